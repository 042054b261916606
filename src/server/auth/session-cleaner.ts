import { Injectable } from '@nestjs/common';
import { HourlyCleaner } from '../../database/hourly-cleaner';
import { Meter } from '../../database/meter';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { SessionRepository } from './session.repository';

/** Removes the sessions whose refresh tokens have run out, and wrong passwords that count no more. */
@Injectable()
export class SessionCleaner extends HourlyCleaner {
  constructor(meter: Meter, sessions: SessionRepository, failures: FailedSignInRepository) {
    super(meter, { sessions, 'failed sign-ins': failures });
  }
}
