import { Injectable } from '@nestjs/common';
import { HourlyTask } from '../time/hourly-task';
import { SessionRepository } from './session.repository';

/** Removes the sessions whose refresh tokens have run out. */
@Injectable()
export class SessionCleaner extends HourlyTask {
  constructor(private readonly sessions: SessionRepository) {
    super();
  }

  override run(): Promise<void> {
    return this.sessions.removeExpired();
  }
}
