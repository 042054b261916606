import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { DomainEvent, Emit } from './domain-event';
import { DomainEvents } from './domain-events';
import { Meter } from './meter';
import { Clock } from '../time/clock';
import { DatabaseErrors } from './database.errors';
import { KeyedMutex } from './keyed-mutex';
import type { IdempotentRequest } from './idempotent-request';
import { faultOf, isDuplicate, RetryBudget, type Fault } from './retry-policy';
import { fromStored, toStored } from './stored-result';
import { TenantryDataSource } from './tenantry.data-source';
import { CommitLog } from './commit-log';
import type { CommitRecord } from './commit-record.entity';

type Statements<T> = (manager: EntityManager) => Promise<T>;
type Work<T> = (manager: EntityManager, emit: Emit) => Promise<T>;

/** A repeat waits for the first of its kind, which may be a long import. */
const REPEAT_PATIENCE_MS = 60_000;

/** Before the look for a COMMIT that was not answered in time. */
const LAST_LOOK_MS = 50;

/** One try. The last one, after the time is over, only looks whether an earlier one was done. */
type Attempt<T> = (isLast: boolean) => Promise<T>;

/** What a unit gave, and what it has to tell now that it is committed. */
interface Done<T> {
  readonly result: T;
  readonly events: readonly DomainEvent[];
}

/** One try's end that the loop has to think about. */
class Interrupted extends Error {
  constructor(
    readonly fault: Exclude<Fault, 'fatal'>,
    cause: unknown,
    /** Whether a COMMIT of this unit was sent and not answered: it may be done. */
    readonly mayBeDone = false,
  ) {
    super(`The unit of work was interrupted (${fault}).`, { cause });
  }
}

/**
 * The only place where transactions begin and end. Work given to it is a closure without outside effects: it
 * may run several times, and exactly one of those runs is committed.
 */
@Injectable()
export class UnitOfWork {
  readonly #logger = new Logger('UnitOfWork');
  readonly #queues = new KeyedMutex();
  #isolation: Promise<'READ COMMITTED' | undefined> | undefined;

  readonly #ledger: CommitLog;

  constructor(
    private readonly dataSource: TenantryDataSource,
    private readonly events: DomainEvents,
    clock: Clock,
    private readonly meter: Meter,
  ) {
    this.#ledger = new CommitLog(() => clock.now());
  }

  /**
   * Runs work outside a transaction, again when the database was away for a moment: a read, or a single write
   * that does no harm when it is done twice.
   */
  withoutTransaction<T>(work: Statements<T>): Promise<T> {
    return this.#again(new RetryBudget(), () => work(this.dataSource.manager));
  }

  /**
   * Runs `lock`, then `work`, in one transaction. `lock` must begin with the write that all units on the same
   * data have in common: on one server it is the lock, on a cluster it is what certification collides on. `key`
   * names that data: in this process its units queue for each other before they take a connection. A unit that a
   * client wants done `once` gives what it gave the first time, which must be JSON of at most 64 KB. Events that the work raises
   * are told after COMMIT, before the next unit of the same key begins.
   */
  run<T>(key: string, lock: Statements<void>, work: Work<T>, once?: IdempotentRequest): Promise<T> {
    const budget = new RetryBudget();
    const arrived = performance.now();
    const inTurn = async (): Promise<T> => {
      this.meter.unitBegan(performance.now() - arrived);
      // Many repeats at once wait here; once the first of them is through, the others need no lock.
      const before = once && (await this.#findAnswer(once, budget));
      if (before) return replay(once, before) as T;
      if (budget.isSpent) throw this.#turnedAway();
      const { result, events } = await this.#persist(budget, this.#attempts(lock, work, once));
      this.events.tell(events);
      return result;
    };
    // A unit that was begun inside another of its key would otherwise wait for ever, and the other for it.
    const ms = once ? REPEAT_PATIENCE_MS : budget.left;
    return this.#queues.run(key, inTurn, { ms, refusal: () => this.#turnedAway() });
  }

  #turnedAway(): Error {
    this.meter.unitGaveUp('queue');
    return DatabaseErrors.UNAVAILABLE();
  }

  /** What the same request gave before, for work that is dear before it comes to its unit. */
  async recall<T>(once: IdempotentRequest): Promise<T | undefined> {
    const before = await this.#findAnswer(once, new RetryBudget());
    return before ? (replay(once, before) as T) : undefined;
  }

  #findAnswer(once: IdempotentRequest, budget: RetryBudget): Promise<CommitRecord | null> {
    return this.#again(budget, () => this.#ledger.findAnswer(this.dataSource.manager, once));
  }

  /** Gives a function that tries the unit once; its tries know of each other. */
  #attempts<T>(lock: Statements<void>, work: Work<T>, once?: IdempotentRequest): Attempt<Done<T>> {
    const unitId = once?.unitId ?? randomUUID();
    // What a try found whose COMMIT may or may not have happened; its ledger row tells the next try.
    let unanswered: Done<T> | undefined;
    return async (isLast) => {
      const runner = this.dataSource.createQueryRunner();
      try {
        await runner.startTransaction(await this.#isolationLevel());
        await lock(runner.manager);
        const done = await this.#findDone<T>(runner.manager, unitId, once, unanswered);
        if (done) {
          await runner.rollbackTransaction();
          return done;
        }
        if (isLast) throw DatabaseErrors.UNAVAILABLE();
        if (once) await this.#ledger.forget(runner.manager, once);
        const events: DomainEvent[] = [];
        const result = await work(runner.manager, (event) => {
          if (this.events.isHeard(event)) events.push(Object.freeze(event));
        });
        await this.#ledger.record(runner.manager, unitId, once, result);
        unanswered = { result, events };
        await runner.commitTransaction();
        return unanswered;
      } catch (error) {
        await abandon(runner);
        // The same key in another tenant's queue, at the same time: the next try finds its row.
        throw once && isDuplicate(error)
          ? new Interrupted('conflict', error)
          : asInterruption(error, unanswered !== undefined);
      } finally {
        await runner.release();
      }
    };
  }

  /** What has been committed of this unit: by a try of it whose COMMIT was not answered, or by an equal request. */
  async #findDone<T>(
    manager: EntityManager,
    unitId: string,
    once: IdempotentRequest | undefined,
    unanswered: Done<T> | undefined,
  ): Promise<Done<T> | undefined> {
    if (!once)
      return unanswered && (await this.#ledger.wasCommitted(manager, unitId)) ? unanswered : undefined;
    const unit = await this.#ledger.findAnswer(manager, once);
    if (!unit) return undefined;
    // A row of this key may be another request's: what this one did may be lost all the same.
    const own = unanswered && toStored(unanswered.result) === unit.result;
    return own ? unanswered : { result: replay(once, unit) as T, events: [] };
  }

  #again<T>(budget: RetryBudget, read: () => Promise<T>): Promise<T> {
    return this.#persist(budget, async () => {
      try {
        return await read();
      } catch (error) {
        throw asInterruption(error);
      }
    });
  }

  async #persist<T>(budget: RetryBudget, attempt: Attempt<T>): Promise<T> {
    for (let isLast = false; ;) {
      try {
        return await attempt(isLast);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        const wait: number | null = isLast ? null : budget.next(error.fault);
        // Who may have been served is not sent away without a look.
        isLast = wait === null && error.mayBeDone && !isLast;
        if (wait === null && !isLast) {
          this.meter.unitGaveUp(error.fault);
          this.#logger.warn({ err: error }, 'gave up on the database');
          throw Object.assign(DatabaseErrors.UNAVAILABLE(), { cause: error });
        }
        this.meter.unitRetried(error.fault);
        await sleep(wait ?? LAST_LOOK_MS);
      }
    }
  }

  /** READ COMMITTED has to be asked for only where the sessions of a host's own DataSource default to another. */
  #isolationLevel(): Promise<'READ COMMITTED' | undefined> {
    this.#isolation ??= askIsolation(this.dataSource).catch((error: unknown) => {
      this.#isolation = undefined;
      throw error;
    });
    return this.#isolation;
  }
}

async function askIsolation(dataSource: DataSource): Promise<'READ COMMITTED' | undefined> {
  if (dataSource.driver.options.type === 'better-sqlite3') return undefined;
  const rows = await dataSource.query<{ Value: string }[]>(
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')",
  );
  return rows.every((row) => row.Value === 'READ-COMMITTED') ? undefined : 'READ COMMITTED';
}

function asInterruption(error: unknown, mayBeDone = false): unknown {
  const fault = faultOf(error);
  return fault === 'fatal' ? error : new Interrupted(fault, error, mayBeDone);
}

function replay(once: IdempotentRequest, { result }: CommitRecord): unknown {
  once.onReplay();
  return fromStored(result);
}

/** Rolls back; a connection that cannot even do that must not go back to the pool with a transaction open. */
async function abandon(runner: QueryRunner): Promise<void> {
  if (!runner.isTransactionActive) return;
  try {
    await runner.rollbackTransaction();
  } catch {
    const connection = (await runner.connect().catch(() => undefined)) as
      { destroy?: () => void } | undefined;
    connection?.destroy?.();
  }
}
