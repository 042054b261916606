import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ChangeFeed } from './change-feed.service';
import { ChangeWaiters } from './change-waiters';
import { ChangeController } from './change.controller';
import { JournalWatch } from '../journal/journal-watch';
import { JournalCleaner } from '../journal/journal-cleaner.repository';
import { LeaseRepository } from './lease.repository';
import { ChangeHandlers } from './on-change';
import type { Resource } from '../resource/resource';
import { MANAGERS } from '../tenancy/roles';
import { TenantryDelivery, TenantryLease, TenantryPosition, TenantryWebhook } from './subscription.entity';
import { SubscriptionRepository } from './subscription.repository';
import { WebhookSender } from './webhook/webhook-sender';
import { WebhookWorker } from './webhook/webhook-worker';
import { WebhookController } from './webhook/webhook.controller';
import { WebhookRepository } from './webhook/webhook.repository';
import { WebhookService } from './webhook/webhook.service';

/** The journal without routes: the feed, handlers of changes, and webhooks. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    ChangeFeed,
    JournalWatch,
    ChangeWaiters,
    JournalCleaner,
    LeaseRepository,
    SubscriptionRepository,
    ChangeHandlers,
    WebhookRepository,
    WebhookService,
    WebhookSender,
    WebhookWorker,
  ],
  exports: [ChangeFeed, ChangeWaiters, WebhookService],
})
export class JournalServicesModule {}

/** The journal with its routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({
  imports: [JournalServicesModule],
  controllers: [ChangeController, WebhookController],
  exports: [JournalServicesModule],
})
export class JournalModule {}

const MODULES = { services: JournalServicesModule, routes: JournalModule };

export const CHANGES = {
  ...MODULES,
  tag: {
    name: 'Changes',
    description:
      'The journal (audit log): every change, to follow it by long polling or to find who did what.',
  },
  permissions: {
    'change:read': { roles: MANAGERS, description: 'Follow the journal of all changes' },
  },
  entities: [TenantryPosition, TenantryLease],
} satisfies Resource;

export const WEBHOOKS = {
  ...MODULES,
  tag: {
    name: 'Webhooks',
    description: 'Addresses that changes are sent to, signed, in order and at least once.',
  },
  permissions: {
    'webhook:write': {
      roles: MANAGERS,
      description: 'Read, create, change and delete webhooks, which are sent all changes',
    },
  },
  entities: [TenantryWebhook, TenantryDelivery],
} satisfies Resource;
