import { Module } from '@nestjs/common';
import { ChangeFeed } from './change-feed.service';
import { ChangeReader } from './change-reader.repository';
import { ChangeWaiters } from './change-waiters';
import { JournalCleaner } from './journal-cleaner.repository';
import { ChangeController } from './change.controller';

/** The journal without routes. */
@Module({
  providers: [ChangeFeed, ChangeReader, ChangeWaiters, JournalCleaner],
  exports: [ChangeFeed, ChangeWaiters],
})
export class JournalServicesModule {}

/** The journal with its routes: importing it mounts them. */
@Module({
  imports: [JournalServicesModule],
  controllers: [ChangeController],
  exports: [JournalServicesModule],
})
export class JournalModule {}
