import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ChangeHandlers } from './on-change';
import { SubscriptionRepository } from './subscription.repository';

/** The journal without routes. */
@Module({ imports: [DiscoveryModule], providers: [SubscriptionRepository, ChangeHandlers] })
export class JournalServicesModule {}
