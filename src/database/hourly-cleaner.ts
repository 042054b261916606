import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import {
  In,
  LessThan,
  type EntityManager,
  type EntityTarget,
  type FindOptionsSelect,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';
import { Clock } from '../time/clock';
import { CommitRecord, dayBefore } from './commit-log';
import { Meter } from './meter';
import { UnitOfWork } from './unit-of-work';

const HOUR_MS = 60 * 60 * 1000;
/** So few that no other statement waits for long. */
const ROWS = 500;

export interface Expiring {
  /** Removes some of these rows in a short statement; gives how many, 0 when none are left. */
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
    // So that the first row and the first failure make their counters grow.
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

/** Removes at most 500 of the rows that match, by their primary keys; gives how many. */
export async function removeSome<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  key: keyof E & string,
  where: FindOptionsWhere<E>,
): Promise<number> {
  const select = { [key]: true } as FindOptionsSelect<E>;
  const found = await manager.find(entity, { select, where, take: ROWS });
  if (found.length === 0) return 0;
  // The condition again: a row may have been renewed since.
  const those = { ...where, [key]: In(found.map((row) => row[key] as unknown)) };
  const { affected } = await manager.delete(entity, those);
  return affected ?? 0;
}
