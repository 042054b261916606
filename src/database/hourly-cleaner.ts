import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Meter } from './meter';

const HOUR_MS = 60 * 60 * 1000;

/** A table with rows that nobody needs after some time. */
export interface Expiring {
  /** Removes some of these rows in a short statement; gives how many it were, 0 when none are left. */
  removeExpired(): Promise<number>;
}

/** Empties its tables of expired rows every hour while the application runs. What fails is tried again after an hour. */
export class HourlyCleaner implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Cleanup');
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(
    private readonly meter: Meter,
    /** By the names that they have in logs and metrics. */
    private readonly tables: Readonly<Record<string, Expiring>>,
  ) {
    // So that the first row and the first failure are a growth of their counters.
    for (const name of Object.keys(tables)) meter.rowsRemoved?.(name, 0);
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.run(), HOUR_MS).unref();
  }

  /** Waits for the statement that is under way: after this the database is closed. */
  async onModuleDestroy(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Never fails: failures are logged and counted. */
  run(): Promise<void> {
    this.#running ??= this.#cleanAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #cleanAll(): Promise<void> {
    for (const [name, table] of Object.entries(this.tables)) {
      try {
        await this.#clean(name, table);
      } catch (error) {
        this.meter.cleanupFailed?.(name);
        this.#logger.warn({ err: error, table: name }, 'the cleanup failed; it is tried again in an hour');
      }
    }
  }

  async #clean(name: string, table: Expiring): Promise<void> {
    while (!this.#isStopped) {
      const removed = await table.removeExpired();
      if (removed === 0) return;
      this.meter.rowsRemoved?.(name, removed);
      // SQLite answers in the same turn: requests must come in between.
      await yieldToEventLoop();
    }
  }
}
