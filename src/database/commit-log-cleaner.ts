import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Meter } from './meter';
import { Clock } from '../time/clock';
import { HourlyCleaner } from './hourly-cleaner';
import { removeSome } from './remove-some';
import { dayBefore } from './commit-log';
import { UnitOfWork } from './unit-of-work';
import { CommitRecord } from './commit-record.entity';

/** Removes the rows that nobody can ask for any more. */
@Injectable()
export class CommitLogCleaner extends HourlyCleaner {
  constructor(unitOfWork: UnitOfWork, clock: Clock, meter: Meter) {
    const removeExpired = (): Promise<number> => {
      const expired = { createdAt: LessThan(dayBefore(clock.now())) };
      return unitOfWork.withoutTransaction((manager) => removeSome(manager, CommitRecord, 'unitId', expired));
    };
    super(meter, { units: { removeExpired } });
  }
}
