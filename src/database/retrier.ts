import { Logger } from '@nestjs/common';
import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseErrors } from './database.errors';
import type { Meter } from './meter';
import { inTime } from '../concurrency/mutex';
import { retry } from '../concurrency/retry';
import { BUDGET_MS, faultOf, NO_CONNECTION, type Fault, type RetryBudget } from './retry-policy';

/** For a connection of the pool, and for making one. */
const CONNECTION_WAIT = {
  ms: BUDGET_MS,
  refusal: () =>
    Object.assign(new Error('No connection to the database came in time.'), { code: NO_CONNECTION }),
};

/** Before the look for a COMMIT that was not answered in time. */
const LAST_LOOK_MS = 50;

/** One try. The last one, after the time is over, only looks whether an earlier one was committed. */
export type TryOnce<T> = (isLast: boolean) => Promise<T>;

/** A try that ended with an error of the database after which there may be another. */
export class Interrupted extends Error {
  constructor(
    readonly fault: Exclude<Fault, 'fatal'>,
    cause: unknown,
    /** A COMMIT of this unit was sent and not answered. */
    readonly mayBeDone = false,
  ) {
    super(`The unit of work was interrupted (${fault}).`, { cause });
  }
}

/** Connects, and tries again what the database interrupted. */
export class Retrier {
  readonly #logger = new Logger('UnitOfWork');

  constructor(
    private readonly dataSource: DataSource,
    private readonly meter: Meter,
  ) {}

  /** A runner that has its connection. The pool itself would wait for one without a limit. */
  async connect(): Promise<QueryRunner> {
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

  /** Tries until it is done, the error is fatal, or the time is over. */
  persist<T>(budget: RetryBudget, attempt: TryOnce<T>): Promise<T> {
    let isLast = false;
    return retry(
      () => attempt(isLast),
      (error) => {
        if (!(error instanceof Interrupted)) return null;
        const wait = isLast ? null : budget.next(error.fault);
        isLast = wait === null && error.mayBeDone && !isLast;
        if (wait === null && !isLast) {
          this.meter.unitGaveUp(error.fault);
          this.#logger.warn({ err: error }, 'gave up on the database');
          throw Object.assign(DatabaseErrors.UNAVAILABLE(), { cause: error });
        }
        this.meter.unitRetried(error.fault);
        return wait ?? LAST_LOOK_MS;
      },
    );
  }
}

export function asInterruption(error: unknown, mayBeDone = false): unknown {
  const fault = faultOf(error);
  return fault === 'fatal' ? error : new Interrupted(fault, error, mayBeDone);
}

/** Rolls back; a connection that cannot even do that must not go back to the pool with a transaction open. */
export async function abandon(runner: QueryRunner): Promise<void> {
  if (!runner.isTransactionActive) return;
  try {
    await runner.rollbackTransaction();
  } catch {
    // mysql2's connections have the one, pg's the other.
    const connection = (await runner.connect().catch(() => undefined)) as
      { destroy?: () => void; end?: () => Promise<void> } | undefined;
    if (connection?.destroy) connection.destroy();
    else connection?.end?.().catch(() => undefined);
  }
}
