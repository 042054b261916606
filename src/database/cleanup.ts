import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import {
  In,
  type EntityManager,
  type EntityTarget,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';
import { decoratedMethods } from './domain-events';
import { Meter } from './meter';
import { ScopedTable } from './scoped-table';

const HOUR_MS = 60 * 60 * 1000;
/** So few that no other statement waits for long. */
const ROWS = 500;

const TABLE = Symbol('removesExpired');

type Removal = () => Promise<number>;

/**
 * On a method that removes some of the expired rows of a table in a short statement, and gives how many, 0 when none are left: it is
 * called every hour until then. The name is that of the table in logs and metrics.
 */
export function RemovesExpired(table: string) {
  return (_: object, __: string, { value }: TypedPropertyDescriptor<Removal>): void => {
    if (value) Reflect.defineMetadata(TABLE, table, value);
  };
}

/** The retention of all tables: calls what has `@RemovesExpired` every hour while the application runs. */
@Injectable()
export class Cleanup implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Cleanup');
  readonly #removals = new Map<string, Removal>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly meter: Meter,
  ) {}

  onApplicationBootstrap(): void {
    for (const { mark, call } of decoratedMethods<string>(this.discovery, TABLE)) {
      this.#removals.set(mark, call as Removal);
      // So that the first row and the first failure make their counters grow.
      this.meter.rowsRemoved?.(mark, 0);
    }
    this.#timer = setInterval(() => void this.run(), HOUR_MS).unref();
  }

  /** Waits for the statement that is under way: after this the database is closed. */
  async onModuleDestroy(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Never fails: failures are logged and counted, and the table is tried again after an hour. */
  run(): Promise<void> {
    this.#running ??= this.#cleanAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #cleanAll(): Promise<void> {
    for (const [table, remove] of this.#removals) {
      try {
        await this.#clean(table, remove);
      } catch (error) {
        this.meter.cleanupFailed?.(table);
        this.#logger.warn({ err: error, table }, 'the cleanup failed; it is tried again in an hour');
      }
    }
  }

  async #clean(table: string, remove: Removal): Promise<void> {
    while (!this.#isStopped) {
      const removed = await remove();
      if (removed === 0) return;
      this.meter.rowsRemoved?.(table, removed);
      // SQLite answers in the same turn: requests must come in between.
      await yieldToEventLoop();
    }
  }
}

/** Removes at most 500 of the rows that match, by their primary keys; gives how many. */
export async function removeSome<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  key: keyof E & string,
  where: FindOptionsWhere<E>,
): Promise<number> {
  const table = new ScopedTable(manager, entity);
  const keys = await table.distinct(key, where, { limit: ROWS });
  // The condition again: a row may have been renewed since.
  return keys.length === 0 ? 0 : table.erase({ ...where, [key]: In(keys) });
}
