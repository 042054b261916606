import { Injectable } from '@nestjs/common';
import { And, In, IsNull, LessThanOrEqual, MoreThan, MoreThanOrEqual, type FindOperator } from 'typeorm';
import { cutPage, type Page } from '../../database/page';
import { ScopedTable, type Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantBound } from '../../tenancy/tenant-bound';
import { Clock } from '../../time/clock';
import { AccountEntity, FailedSignInEntity, SessionEntity, type RecordedReason } from './account.entity';

/** Which sign-ins are listed; what is undefined limits nothing. */
export interface SignInFilter {
  readonly userId?: number | undefined;
  readonly outcome?: string | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A sign-in of an account: the session that it began, or why it was refused. */
export interface SignInRecord {
  readonly id: string;
  readonly time: Date;
  readonly userId: number;
  readonly client: string | null;
  readonly reason: RecordedReason | null;
  readonly sessionId: string | null;
  readonly endedAt: Date | null;
}

const [FIRST, LAST] = [new Date('1970-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59.999Z')];
const BEGUN = ['sessionId', 'userId', 'createdAt', 'client', 'endedAt'] as const;
const REFUSED = ['attemptId', 'userId', 'failedAt', 'client', 'reason'] as const;
const NAMES = ['userId', 'username'] as const;
const OPEN = ['sessionId', 'createdAt', 'client', 'refreshedAt', 'refreshedClient', 'expiresAt'] as const;
export type OpenSession = Pick<SessionEntity, (typeof OPEN)[number]>;

/** What is kept of sign-ins, for those who manage the accounts. */
@Injectable()
export class SignInRepository {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  in(ctx: RequestContext): SignInReader {
    return new SignInReader(this.unitOfWork, ctx, this.clock.now());
  }
}

/** The sign-ins of one tenant, the newest first. Their keys are the milliseconds of their time, and their ids. */
export class SignInReader {
  readonly #sessions: TenantBound<SessionEntity>;
  readonly #failures: ScopedTable<FailedSignInEntity>;
  readonly #accounts: TenantBound<AccountEntity>;

  constructor(
    unitOfWork: UnitOfWork,
    ctx: RequestContext,
    private readonly now: Date,
  ) {
    this.#sessions = new TenantBound(unitOfWork, SessionEntity, ctx);
    const { tenantId, unit } = ctx;
    this.#failures = new ScopedTable(unitOfWork.connections(unit), FailedSignInEntity, {
      where: { tenantId },
    });
    this.#accounts = new TenantBound(unitOfWork, AccountEntity, ctx);
  }

  async findPage(filter: SignInFilter, after: Key | null, limit: number): Promise<Page<SignInRecord>> {
    const { outcome } = filter;
    const begun = outcome === 'refused' ? [] : await this.#findBegun(filter, after, limit + 1);
    const refused = outcome === 'signed_in' ? [] : await this.#findRefused(filter, after, limit + 1);
    return cutPage([...begun, ...refused].sort(newestFirst), limit, ({ time, id }) => [time.getTime(), id]);
  }

  /** The names of these accounts, also of deleted ones. */
  async findNames(userIds: readonly number[]): Promise<Map<number, string>> {
    const rows = await this.#accounts.pick({ userId: In([...new Set(userIds)]) }, NAMES);
    return new Map(rows.map(({ userId, username }) => [userId, username]));
  }

  /** Sessions of an account that can be refreshed. */
  async findOpen(userId: number, after: Key | null, limit: number): Promise<Page<OpenSession>> {
    const open = { userId, endedAt: IsNull(), expiresAt: MoreThan(this.now) };
    const order = { createdAt: 'DESC', sessionId: 'DESC' } as const;
    const rows = await this.#sessions.pick(open, OPEN, { order, after: placeOf(after), limit: limit + 1 });
    return cutPage(rows, limit, ({ createdAt, sessionId }) => [createdAt.getTime(), sessionId]);
  }

  async #findBegun(filter: SignInFilter, after: Key | null, limit: number): Promise<SignInRecord[]> {
    const where = { ...ofUser(filter), createdAt: spanOf(filter) };
    const order = { createdAt: 'DESC', sessionId: 'DESC' } as const;
    const rows = await this.#sessions.pick(where, BEGUN, { order, after: placeOf(after), limit });
    return rows.map(({ createdAt: time, sessionId, ...row }) => {
      return { ...row, id: sessionId, time, sessionId, reason: null };
    });
  }

  async #findRefused(filter: SignInFilter, after: Key | null, limit: number): Promise<SignInRecord[]> {
    const where = { ...ofUser(filter), failedAt: spanOf(filter) };
    const order = { failedAt: 'DESC', attemptId: 'DESC' } as const;
    const rows = await this.#failures.pick(where, REFUSED, { order, after: placeOf(after), limit });
    return rows.map(({ failedAt: time, attemptId: id, userId, ...row }) => {
      return { ...row, id, time, userId: userId ?? 0, sessionId: null, endedAt: null };
    });
  }
}

function ofUser({ userId }: SignInFilter): { readonly userId?: number } {
  return userId === undefined ? {} : { userId };
}

function spanOf({ from, until }: SignInFilter): FindOperator<Date> {
  return And(MoreThanOrEqual(from ?? FIRST), LessThanOrEqual(until ?? LAST));
}

function placeOf(key: Key | null): [Date, string] | null {
  return key && [new Date(Number(key[0])), String(key[1])];
}

function newestFirst(a: SignInRecord, b: SignInRecord): number {
  return b.time.getTime() - a.time.getTime() || (a.id < b.id ? 1 : -1);
}
