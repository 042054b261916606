import { Injectable } from '@nestjs/common';
import { HourlyTask } from '../time/hourly-task';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { SessionRepository } from './session.repository';

/** Removes the sessions whose refresh tokens have run out, and wrong passwords that count no more. */
@Injectable()
export class SessionCleaner extends HourlyTask {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly failures: FailedSignInRepository,
  ) {
    super();
  }

  override async run(): Promise<void> {
    await this.failures.removeExpired();
    await this.sessions.removeExpired();
  }
}
