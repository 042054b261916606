import { Injectable } from '@nestjs/common';
import { HourlyCleaner } from '../database/hourly-cleaner';
import { Meter } from '../metrics/meter';
import { SessionRepository } from './session.repository';

/** Removes the sessions whose refresh tokens have run out. */
@Injectable()
export class SessionCleaner extends HourlyCleaner {
  constructor(meter: Meter, sessions: SessionRepository) {
    super(meter, { sessions });
  }
}
