import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ChangeDispatchers } from './change-dispatcher';
import { ChangeFeed } from './change-feed.service';
import { ChangeWaiters } from './change-waiters';
import { ChangeController } from './change.controller';
import { JournalWatch } from '../journal/journal-watch';
import { JournalCleaner } from '../journal/journal-cleaner.repository';
import { LeaseRepository } from './lease.repository';
import { ChangeHandlers } from './on-change';
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
    ChangeDispatchers,
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
