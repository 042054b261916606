import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager, QueryRunner } from 'typeorm';
import { Clock } from '../time/clock';
import { RemovesExpired } from './cleanup';
import { CommitLog, fromStored, toStored, type TenantryCommit } from './commit-log';
import { DatabaseErrors } from './database.errors';
import type { UnitSession } from './dialect';
import { dialectOf } from './dialects';
import { DomainEvents, type DomainEvent } from './domain-events';
import type { IdempotentRequest } from './idempotent-request';
import { Meter } from './meter';
import { KeyedMutex } from '../concurrency/mutex';
import { OpenUnit } from './open-unit';
import { abandon, asInterruption, Interrupted, Retrier, type TryOnce } from './retrier';
import { isDuplicate, RetryBudget } from './retry-policy';
import type { Connections } from './scoped-table';
import { TenantryDataSource } from './tenantry.data-source';

type Statements<T> = (manager: EntityManager) => Promise<T>;
type Lock = (unit: OpenUnit) => Promise<void>;
type Work<T> = (unit: OpenUnit) => Promise<T>;

/** A repeated request waits for the first one, which may be a long import. */
const REPEAT_WAIT_MS = 60_000;

const INSIDE =
  'This would wait for the transaction that it is called in. Inside TenantryTransaction.run call unit.depts, unit.tenants, ' +
  'unit.quotas or unit.rows(Entity); inside TenantBoundRepository.transaction use the rows that it gives.';

interface Done<T> {
  readonly result: T;
  readonly events: readonly DomainEvent[];
  /** Null when an earlier request has done it. */
  readonly unit: OpenUnit | null;
}

/**
 * The only place where transactions begin and end. Work given to it is a closure without outside effects: it
 * may run several times, and exactly one of those runs is committed.
 */
@Injectable()
export class UnitOfWork {
  readonly #queues = new KeyedMutex();
  /** The unit of a host in which a call is made. Others need none: it slows promises down on Node 20. */
  readonly #around = new AsyncLocalStorage<OpenUnit>();
  readonly #commits: CommitLog;
  readonly #commitListeners = new Set<(unit: OpenUnit) => void>();
  readonly #retrier: Retrier;
  #session: Promise<UnitSession> | undefined;

  constructor(
    private readonly dataSource: TenantryDataSource,
    private readonly events: DomainEvents,
    clock: Clock,
    private readonly meter: Meter,
  ) {
    this.#commits = new CommitLog(() => clock.now());
    this.#retrier = new Retrier(dataSource, meter);
  }

  /**
   * Runs a read, or a single write that does no harm when it is done twice; again when the database was away for a moment.
   * In a unit that is open, it is one of its statements.
   */
  withoutTransaction<T>(work: Statements<T>, unit?: OpenUnit | null): Promise<T> {
    return unit ? unit.call(() => work(unit.manager)) : this.#read(new RetryBudget(), work);
  }

  /** Removes some of the records of units that were committed more than a day ago; gives how many. */
  @RemovesExpired('units')
  removeExpired(): Promise<number> {
    return this.withoutTransaction((manager) => this.#commits.removeExpired(manager));
  }

  /** For a table that is read: each statement has a connection of its own, or is one of a unit that is open. */
  connections(unit: OpenUnit | null = null): Connections {
    return { dataSource: this.dataSource, run: (work) => this.withoutTransaction(work, unit) };
  }

  /**
   * Runs `lock`, then `work`, in one transaction. `lock` must begin with the write that all units on the same
   * data have in common: on one server it is the lock, on a cluster it is what certification collides on. `key`
   * names that data: in this process its units queue for each other before they take a connection. With null, a unit waits
   * for none, and `lock` is only a check. A unit of an idempotent
   * request gives what it gave the first time, which must be JSON of at most 64 KB. Events are emitted after COMMIT,
   * before the next unit of the same key begins.
   */
  async run<T>(key: string | null, lock: Lock, work: Work<T>, request?: IdempotentRequest): Promise<T> {
    if (this.#around.getStore()?.isOpen) throw new Error(INSIDE);
    const budget = new RetryBudget();
    const arrived = performance.now();
    const inTurn = async (): Promise<T> => {
      this.meter.unitBegan(performance.now() - arrived);
      // Many repeats at once wait here; once the first of them is through, the others need no lock.
      const before = request && (await this.#findAnswer(request, budget));
      if (before) return replay(request, before) as T;
      if (budget.isSpent) throw this.#refuseInQueue();
      const done = await this.#retrier.persist(budget, this.#attempts(lock, work, request));
      if (done.unit) for (const listener of this.#commitListeners) listener(done.unit);
      this.events.emit(done.events);
      return done.result;
    };
    if (key === null) return inTurn();
    // A unit that was begun inside another of its key would otherwise wait for ever, and the other for it.
    const ms = request ? REPEAT_WAIT_MS : budget.left;
    return this.#queues.runExclusive(key, inTurn, { ms, refusal: () => this.#refuseInQueue() });
  }

  /** Runs `work` as part of a unit that is open, after the lock that it needs there; or else in a unit of its own. */
  async runIn<T>(
    unit: OpenUnit | null,
    ...[key, lock, work, request]: Parameters<typeof this.run<T>>
  ): Promise<T> {
    if (!unit) return this.run(key, lock, work, request);
    if (request) throw new Error('An idempotent request is given to the transaction as a whole.');
    return unit.call(async () => {
      await lock(unit);
      return work(unit);
    });
  }

  /** As `run`, for work of a host: other units that it begins inside would wait for this one, so they fail at once. */
  runForHost<T>(
    key: string,
    lock: Lock,
    work: (unit: OpenUnit) => Promise<T>,
    request?: IdempotentRequest,
  ): Promise<T> {
    const run: Work<T> = async (unit) => {
      try {
        const result = await this.#around.run(unit, () => work(unit));
        await unit.close();
        return result;
      } catch (error) {
        await unit.close().catch(() => undefined);
        throw error;
      }
    };
    return this.run(key, lock, run, request);
  }

  /** What the same request gave before, for work that is dear before it comes to its unit. */
  async recall<T>(request: IdempotentRequest): Promise<T | undefined> {
    const before = await this.#findAnswer(request, new RetryBudget());
    return before ? (replay(request, before) as T) : undefined;
  }

  /** Calls `listener` after each COMMIT, before the events are emitted. Gives a function that ends it. */
  onCommit(listener: (unit: OpenUnit) => void): () => void {
    this.#commitListeners.add(listener);
    return () => void this.#commitListeners.delete(listener);
  }

  #refuseInQueue(): Error {
    this.meter.unitGaveUp('queue');
    return DatabaseErrors.UNAVAILABLE();
  }

  #findAnswer(request: IdempotentRequest, budget: RetryBudget): Promise<TenantryCommit | null> {
    return this.#read(budget, (manager) => this.#commits.findAnswer(manager, request));
  }

  /** Gives a function that tries the unit once; its tries know of each other. */
  #attempts<T>(lock: Lock, work: Work<T>, request?: IdempotentRequest): TryOnce<Done<T>> {
    const unitId = request?.unitId ?? randomUUID();
    // Of a try whose COMMIT may or may not have happened; its commit record tells the next try.
    let unanswered: Done<T> | undefined;
    return async (isLast) => {
      const runner = await this.#retrier.connect();
      let session: UnitSession | undefined;
      try {
        session = await this.#sessionOf(runner);
        await session.begin(runner);
        const events: DomainEvent[] = [];
        const unit = new OpenUnit(runner.manager, (event) => {
          if (this.events.hasListener(event)) events.push(Object.freeze(event));
        });
        await lock(unit);
        const done = await this.#findDone<T>(runner.manager, unitId, request, unanswered);
        if (done) {
          await runner.rollbackTransaction();
          return done;
        }
        if (isLast) throw DatabaseErrors.UNAVAILABLE();
        if (request) await this.#commits.forget(runner.manager, request);
        const result = await work(unit);
        await unit.writeParts();
        await this.#commits.record(runner.manager, unitId, request, result);
        unanswered = { result, events, unit };
        await runner.commitTransaction();
        return unanswered;
      } catch (error) {
        await abandon(runner);
        const mayBeDone = unanswered !== undefined;
        // The same key in another tenant's queue, or an earlier try that was still being committed: the next finds its record.
        throw (request || mayBeDone) && isDuplicate(error)
          ? new Interrupted('conflict', error, mayBeDone)
          : asInterruption(error, mayBeDone);
      } finally {
        await session?.end(runner);
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
    return own ? unanswered : { result: replay(request, record) as T, events: [], unit: null };
  }

  #read<T>(budget: RetryBudget, work: Statements<T>): Promise<T> {
    return this.#retrier.persist(budget, async () => {
      const runner = await this.#retrier.connect();
      try {
        return await work(runner.manager);
      } catch (error) {
        throw asInterruption(error);
      } finally {
        await runner.release();
      }
    });
  }

  /** Asked once, on a connection that the unit has already: a second one might never come. */
  #sessionOf(runner: QueryRunner): Promise<UnitSession> {
    this.#session ??= dialectOf(this.dataSource)
      .unitSession(runner)
      .catch((error: unknown) => {
        this.#session = undefined;
        throw error;
      });
    return this.#session;
  }
}

function replay(request: IdempotentRequest, { result }: TenantryCommit): unknown {
  request.onReplay();
  return fromStored(result);
}
