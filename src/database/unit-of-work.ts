import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager, QueryRunner } from 'typeorm';
import { Clock } from '../time/clock';
import { CommitLog, fromStored, toStored, type CommitRecord } from './commit-log';
import { DatabaseErrors } from './database.errors';
import { dialectOf, type Isolation } from './dialect';
import { DomainEvents, type DomainEvent, type Emit } from './domain-events';
import type { IdempotentRequest } from './idempotent-request';
import { Meter } from './meter';
import { inTime, KeyedMutex } from './mutex';
import { BUDGET_MS, faultOf, isDuplicate, NO_CONNECTION, RetryBudget, type Fault } from './retry-policy';
import { TenantryDataSource } from './tenantry.data-source';

type Statements<T> = (manager: EntityManager) => Promise<T>;
type Work<T> = (manager: EntityManager, emit: Emit) => Promise<T>;

/** A repeated request waits for the first one, which may be a long import. */
const REPEAT_WAIT_MS = 60_000;

/** For a connection of the pool, and for making one. */
const CONNECTION_WAIT = {
  ms: BUDGET_MS,
  refusal: () =>
    Object.assign(new Error('No connection to the database came in time.'), { code: NO_CONNECTION }),
};

/** Before the look for a COMMIT that was not answered in time. */
const LAST_LOOK_MS = 50;

/** One try. The last one, after the time is over, only looks whether an earlier one was committed. */
type Attempt<T> = (isLast: boolean) => Promise<T>;

interface Done<T> {
  readonly result: T;
  readonly events: readonly DomainEvent[];
}

/** A try that ended with an error of the database after which there may be another. */
class Interrupted extends Error {
  constructor(
    readonly fault: Exclude<Fault, 'fatal'>,
    cause: unknown,
    /** A COMMIT of this unit was sent and not answered. */
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
  readonly #commits: CommitLog;
  #isolation: Promise<Isolation> | undefined;

  constructor(
    private readonly dataSource: TenantryDataSource,
    private readonly events: DomainEvents,
    clock: Clock,
    private readonly meter: Meter,
  ) {
    this.#commits = new CommitLog(() => clock.now());
  }

  /** Runs a read, or a single write that does no harm when it is done twice; again when the database was away for a moment. */
  withoutTransaction<T>(work: Statements<T>): Promise<T> {
    return this.#read(new RetryBudget(), work);
  }

  /**
   * Runs `lock`, then `work`, in one transaction. `lock` must begin with the write that all units on the same
   * data have in common: on one server it is the lock, on a cluster it is what certification collides on. `key`
   * names that data: in this process its units queue for each other before they take a connection. A unit of an idempotent
   * request gives what it gave the first time, which must be JSON of at most 64 KB. Events are emitted after COMMIT,
   * before the next unit of the same key begins.
   */
  run<T>(key: string, lock: Statements<void>, work: Work<T>, request?: IdempotentRequest): Promise<T> {
    const budget = new RetryBudget();
    const arrived = performance.now();
    const inTurn = async (): Promise<T> => {
      this.meter.unitBegan(performance.now() - arrived);
      // Many repeats at once wait here; once the first of them is through, the others need no lock.
      const before = request && (await this.#findAnswer(request, budget));
      if (before) return replay(request, before) as T;
      if (budget.isSpent) throw this.#refuseInQueue();
      const { result, events } = await this.#persist(budget, this.#attempts(lock, work, request));
      this.events.emit(events);
      return result;
    };
    // A unit that was begun inside another of its key would otherwise wait for ever, and the other for it.
    const ms = request ? REPEAT_WAIT_MS : budget.left;
    return this.#queues.runExclusive(key, inTurn, { ms, refusal: () => this.#refuseInQueue() });
  }

  /** What the same request gave before, for work that is dear before it comes to its unit. */
  async recall<T>(request: IdempotentRequest): Promise<T | undefined> {
    const before = await this.#findAnswer(request, new RetryBudget());
    return before ? (replay(request, before) as T) : undefined;
  }

  #refuseInQueue(): Error {
    this.meter.unitGaveUp('queue');
    return DatabaseErrors.UNAVAILABLE();
  }

  #findAnswer(request: IdempotentRequest, budget: RetryBudget): Promise<CommitRecord | null> {
    return this.#read(budget, (manager) => this.#commits.findAnswer(manager, request));
  }

  /** Gives a function that tries the unit once; its tries know of each other. */
  #attempts<T>(lock: Statements<void>, work: Work<T>, request?: IdempotentRequest): Attempt<Done<T>> {
    const unitId = request?.unitId ?? randomUUID();
    // Of a try whose COMMIT may or may not have happened; its commit record tells the next try.
    let unanswered: Done<T> | undefined;
    return async (isLast) => {
      const runner = await this.#connect();
      try {
        await runner.startTransaction(await this.#isolationLevel(runner));
        await lock(runner.manager);
        const done = await this.#findDone<T>(runner.manager, unitId, request, unanswered);
        if (done) {
          await runner.rollbackTransaction();
          return done;
        }
        if (isLast) throw DatabaseErrors.UNAVAILABLE();
        if (request) await this.#commits.forget(runner.manager, request);
        const events: DomainEvent[] = [];
        const result = await work(runner.manager, (event) => {
          if (this.events.hasListener(event)) events.push(Object.freeze(event));
        });
        await this.#commits.record(runner.manager, unitId, request, result);
        unanswered = { result, events };
        await runner.commitTransaction();
        return unanswered;
      } catch (error) {
        await abandon(runner);
        // The same key in another tenant's queue, at the same time: the next try finds its record.
        throw request && isDuplicate(error)
          ? new Interrupted('conflict', error)
          : asInterruption(error, unanswered !== undefined);
      } finally {
        await runner.release();
      }
    };
  }

  async #findDone<T>(
    manager: EntityManager,
    unitId: string,
    request: IdempotentRequest | undefined,
    unanswered: Done<T> | undefined,
  ): Promise<Done<T> | undefined> {
    if (!request) {
      return unanswered && (await this.#commits.wasCommitted(manager, unitId)) ? unanswered : undefined;
    }
    const record = await this.#commits.findAnswer(manager, request);
    if (!record) return undefined;
    // A record of this key may be of another request: the work of this one may be lost all the same.
    const own = unanswered && toStored(unanswered.result) === record.result;
    return own ? unanswered : { result: replay(request, record) as T, events: [] };
  }

  #read<T>(budget: RetryBudget, work: Statements<T>): Promise<T> {
    return this.#persist(budget, async () => {
      const runner = await this.#connect();
      try {
        return await work(runner.manager);
      } catch (error) {
        throw asInterruption(error);
      } finally {
        await runner.release();
      }
    });
  }

  /** A runner that has its connection. The pool itself would wait for one without a limit. */
  async #connect(): Promise<QueryRunner> {
    const runner = this.dataSource.createQueryRunner();
    const connecting = Promise.resolve(runner.connect());
    try {
      await inTime(connecting, CONNECTION_WAIT);
      return runner;
    } catch (error) {
      // A connection that comes too late goes back to the pool.
      connecting.then(() => runner.release()).catch(() => undefined);
      throw asInterruption(error);
    }
  }

  async #persist<T>(budget: RetryBudget, attempt: Attempt<T>): Promise<T> {
    for (let isLast = false; ;) {
      try {
        return await attempt(isLast);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        const wait: number | null = isLast ? null : budget.next(error.fault);
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

  /** Asked once, on a connection that the unit has already: a second one might never come. */
  #isolationLevel(runner: QueryRunner): Promise<Isolation> {
    this.#isolation ??= dialectOf(this.dataSource)
      .isolationFor(runner)
      .catch((error: unknown) => {
        this.#isolation = undefined;
        throw error;
      });
    return this.#isolation;
  }
}

function asInterruption(error: unknown, mayBeDone = false): unknown {
  const fault = faultOf(error);
  return fault === 'fatal' ? error : new Interrupted(fault, error, mayBeDone);
}

function replay(request: IdempotentRequest, { result }: CommitRecord): unknown {
  request.onReplay();
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
