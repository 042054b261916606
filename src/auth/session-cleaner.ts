import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SessionRepository } from './session.repository';

const HOUR_MS = 60 * 60 * 1000;

/** Removes the sessions whose refresh tokens have run out, hourly. */
@Injectable()
export class SessionCleaner implements OnApplicationBootstrap, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly sessions: SessionRepository) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(
      () => void this.sessions.removeExpired().catch(() => undefined),
      HOUR_MS,
    ).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }
}
