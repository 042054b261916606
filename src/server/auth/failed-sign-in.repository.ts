import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { IsNull, LessThan, MoreThan } from 'typeorm';
import { RemovesExpired, removeSome } from '../../database/cleanup';
import { ScopedTable } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { Clock } from '../../time/clock';
import { ENV, type Env } from '../config/env';
import { counterOf } from '../rate-limit/rate-limits';
import { FailedSignInEntity, FORGIVEN, type AccountEntity, type RecordedReason } from './account.entity';

/** The account whose password is tried, and the client that tries. */
interface SignInAttempt {
  readonly accountHash: string;
  readonly client: string;
}

const MAX_FAILURES = 5;
const LOCK_MS = 10 * 60 * 1000;
/** A lock that began with the last failure may count failures of ten minutes before it. */
const KEPT_MS = 2 * LOCK_MS;
const DAY_S = 24 * 60 * 60;
/** Of one account, by one replica, in a day: whoever tries from a thousand addresses must not fill the disk. */
const MOST_RECORDED = 100;
const RECORDED = { keyPrefix: 'tenantry:refused', points: MOST_RECORDED, duration: DAY_S };
const UNRECORDED = { tenantId: null, userId: null, reason: null };

/**
 * Wrong passwords of the last minutes, by account and client: too many of them lock it (lock-out). Those of accounts that exist are kept
 * for longer, as the record of refused sign-ins; nothing else is written for it.
 */
@Injectable()
export class FailedSignInRepository {
  readonly #failures: ScopedTable<FailedSignInEntity>;
  readonly #recorded: RateLimiterAbstract;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(ENV) private readonly env: Env,
  ) {
    this.#failures = new ScopedTable(unitOfWork.connections(), FailedSignInEntity);
    this.#recorded = counterOf(RECORDED, env);
  }

  /** The latest failures, newest first: as many as lock, at most. */
  async findLatest({ accountHash, client }: SignInAttempt): Promise<Date[]> {
    const where = { accountHash, client, failedAt: MoreThan(this.#before(KEPT_MS)) };
    const options = { order: { failedAt: 'DESC' }, limit: MAX_FAILURES } as const;
    const rows = await this.#failures.find(where, options);
    return rows.map(({ failedAt }) => failedAt);
  }

  /** Whether these failures lock: five within ten minutes do, for ten minutes from the fifth. */
  locks(latest: readonly Date[]): boolean {
    const [last, fifth] = [latest[0], latest[MAX_FAILURES - 1]];
    if (last === undefined || fifth === undefined) return false;
    return last > this.#before(LOCK_MS) && last.getTime() - fifth.getTime() < LOCK_MS;
  }

  /** Without an account it counts all the same, and nothing tells later whom it was for. */
  async add(
    { accountHash, client }: SignInAttempt,
    account: AccountEntity | null,
    reason: RecordedReason,
  ): Promise<void> {
    const { tenantId, userId } = account ?? UNRECORDED;
    const record = (await this.#mayRecord(userId)) ? { tenantId, userId, reason } : UNRECORDED;
    const row = { attemptId: randomUUID(), accountHash, client, failedAt: this.clock.now(), ...record };
    await this.unitOfWork.withoutTransaction((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(FailedSignInEntity)
        .values(row)
        .orIgnore()
        .updateEntity(false)
        .execute(),
    );
  }

  /** Lifts the lock of an account for one client, or for all. What was recorded stays. */
  async forgive(failures: Pick<SignInAttempt, 'accountHash'> & Partial<SignInAttempt>): Promise<void> {
    await this.#failures.update(failures, { accountHash: FORGIVEN });
  }

  /** Removes some of the failures that count no more, and of the records that are too old; gives how many. */
  @RemovesExpired('failed sign-ins')
  removeExpired(): Promise<number> {
    const keptMs = Math.max(this.env.SIGN_IN_KEEP_DAYS * DAY_S * 1000, KEPT_MS);
    const uncounted = { tenantId: IsNull(), failedAt: LessThan(this.#before(KEPT_MS)) };
    const old = { failedAt: LessThan(this.#before(keptMs)) };
    return this.unitOfWork.withoutTransaction(
      async (manager) =>
        (await removeSome(manager, FailedSignInEntity, 'attemptId', uncounted)) ||
        removeSome(manager, FailedSignInEntity, 'attemptId', old),
    );
  }

  async #mayRecord(userId: number | null): Promise<boolean> {
    if (userId === null || this.env.SIGN_IN_KEEP_DAYS === 0) return false;
    return (await this.#recorded.penalty(userId)).consumedPoints <= MOST_RECORDED;
  }

  #before(ms: number): Date {
    return new Date(this.clock.now().getTime() - ms);
  }
}
