import { Injectable } from '@nestjs/common';
import {
  And,
  Equal,
  In,
  IsNull,
  Like,
  Not,
  Raw,
  type EntityManager,
  type FindOperator,
  type FindOptionsWhere,
} from 'typeorm';
import {
  AccountEntity,
  accountHash,
  FailedSignInEntity,
  FORGIVEN,
  SessionEntity,
} from '../auth/account.entity';
import { findGrantedDepts, type GrantedDept } from '../auth/granted-depts.repository';
import { JournalledRows, type Journalled } from '../../resource/journalled-rows.repository';
import { contains } from '../../database/columns';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { OpenUnit } from '../../database/open-unit';
import { ScopedTable, type FindOptions, type Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { usernameKey } from '../../tenancy/account-name';
import { ManagedPart } from '../../tenancy/managed-part';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantBound } from '../../tenancy/tenant-bound';
import { treeLock } from '../../journal/tree-lock';
import { TenantryTenant } from '../../tenant/tenant.entity';
import { Clock } from '../../time/clock';
import { cutPage, fillPage, type Page } from '../../database/page';
import type { AccountListQuery } from './account.dto';
import { ACCOUNT_SHOWN, toAccountJournal, type AccountFields, type AccountRow } from './account.mapper';

const LIVE = { delFlag: '0' } as const;
const ID = ['userId'] as const;
const LIMIT = ['accountCount'] as const;
const ORDER = { userId: 'ASC' } as const;

type Where = FindOptionsWhere<AccountEntity>;

/** The accounts of a tenant: reading, and writing in a unit of work that locks the tenant. */
@Injectable()
export class AccountRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): AccountReader {
    return new AccountReader(this.#unitOfWork, ctx);
  }

  /** The account that the same request made before. */
  recall(once: IdempotentRequest): Promise<number | undefined> {
    return this.#unitOfWork.recall<number>(once);
  }

  /** Runs `work` while neither the accounts nor the departments of this tenant change. */
  transaction<T>(
    ctx: RequestContext,
    work: (accounts: LockedAccounts) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    return this.#unitOfWork.run(
      ctx.tenantId,
      treeLock(ctx),
      (unit) => work(new LockedAccounts(unit, ctx, this.clock.now())),
      once,
    );
  }
}

/** The accounts of one tenant that the caller manages, read outside of any transaction. */
export class AccountReader {
  readonly #accounts: TenantBound<AccountEntity>;
  readonly #managed: Where;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly ctx: RequestContext,
  ) {
    this.#accounts = new TenantBound(unitOfWork, AccountEntity, ctx);
    this.#managed = managedBy(ctx);
  }

  find(userId: number): Promise<AccountEntity | null> {
    return this.#accounts.findOne({ userId, ...LIVE, ...this.#managed });
  }

  /** The caller's own account, wherever it is. */
  findOwn(userId: number): Promise<AccountEntity | null> {
    return this.#accounts.findOne({ userId, ...LIVE });
  }

  /** Whether the caller manages such an account, deleted or not. */
  everHad(userId: number): Promise<boolean> {
    return this.#accounts.exists({ userId, ...this.#managed });
  }

  /** Of these accounts the ones that the tenant has, managed by the caller or not; `ever`: also deleted ones. */
  among(userIds: readonly number[], { ever = false } = {}): Promise<number[]> {
    return this.#accounts.distinctIds('userId', { userId: In([...userIds]), ...(ever ? {} : LIVE) });
  }

  findDepts(deptIds: readonly number[]): Promise<GrantedDept[]> {
    return findGrantedDepts(this.unitOfWork, this.ctx, deptIds);
  }

  /** A part of the accounts that match, in the order of ids. */
  async findPage(
    { deptId, username, status }: AccountListQuery,
    start: Key | null,
    limit: number,
  ): Promise<Page<AccountRow>> {
    const own = this.#managed.deptId as FindOperator<number> | undefined;
    const deptIds = [...(own ? [own] : []), ...(deptId === undefined ? [] : [Equal(deptId)])];
    const where: Where = { ...LIVE, ...(deptIds.length > 0 && { deptId: And(...deptIds) }) };
    const find = (found: Where, options: FindOptions<AccountEntity> = {}) =>
      this.#accounts.pick(found, ACCOUNT_SHOWN, options);
    if (status === undefined && username === undefined) {
      const rows = await find(where, { order: ORDER, after: start, limit: limit + 1 });
      return cutPage(rows, limit, ({ userId }) => [userId]);
    }
    const filters: Where = {
      ...where,
      ...(status !== undefined && { status }),
      ...(username !== undefined && { username: contains(username) }),
    };
    return fillPage(
      async (after, count) => {
        const options = { order: ORDER, after, limit: count };
        const found = await this.#accounts.pick(where, ID, options);
        return found.map(({ userId }) => [userId]);
      },
      {
        at: (keys) => find({ ...filters, userId: In(keys.map(([id]) => Number(id))) }, { index: 'PRIMARY' }),
        idOf: ({ userId }) => userId,
      },
      start,
      limit,
    );
  }
}

export const JOURNALLED_ACCOUNT: Journalled<AccountEntity> = {
  kind: 'user',
  noun: 'account',
  entity: AccountEntity,
  id: 'userId',
  toJournal: toAccountJournal,
};

/**
 * A tenant's accounts inside a unit of work that locks the tenant. Only it writes them. It finds those that the caller manages.
 */
export class LockedAccounts {
  readonly #manager: EntityManager;
  readonly #accounts: TenantBound<AccountEntity>;
  readonly #managed: Where;
  readonly #rows: JournalledRows<AccountEntity>;

  constructor(
    unit: OpenUnit,
    private readonly ctx: RequestContext,
    private readonly now: Date,
  ) {
    this.#manager = unit.manager;
    this.#accounts = new TenantBound(unit.manager, AccountEntity, ctx);
    this.#managed = managedBy(ctx);
    this.#rows = new JournalledRows(unit, ctx, now, JOURNALLED_ACCOUNT, this.#accounts);
  }

  /** How many accounts the tenant may have; -1 is any number. */
  async findLimit(): Promise<number> {
    const { tenantId } = this.ctx;
    const [tenant] = await new ScopedTable(this.#manager, TenantryTenant).pick({ tenantId }, LIMIT);
    if (!tenant) throw new Error('The tenant that is locked does not exist.');
    return tenant.accountCount;
  }

  find(userId: number): Promise<AccountEntity | null> {
    return this.#accounts.findOne({ userId, ...LIVE, ...this.#managed });
  }

  /** The caller's own account, wherever it is. */
  findOwn(userId: number): Promise<AccountEntity | null> {
    return this.#accounts.findOne({ userId, ...LIVE });
  }

  findMany(userIds: readonly number[]): Promise<AccountEntity[]> {
    const where = { userId: In([...userIds]), ...LIVE, ...this.#managed };
    return this.#accounts.find(where, { order: { userId: 'ASC' } });
  }

  /** Of these accounts the ones that the tenant has, managed by the caller or not. */
  among(userIds: readonly number[]): Promise<number[]> {
    return this.#accounts.distinctIds('userId', { userId: In([...userIds]), ...LIVE });
  }

  count(): Promise<number> {
    return this.#accounts.count(LIVE);
  }

  /** Whether another account has that name, or one that looks the same. */
  async hasUsername(username: string, exceptId = 0): Promise<boolean> {
    const another = { userId: Not(exceptId), nameKey: 0 };
    // Two questions, each with an index of its own: SQLite would walk through the tenant for both at once.
    return (
      (await this.#accounts.exists({ username, ...another })) ||
      (await this.#accounts.exists({ usernameKey: usernameKey(username), ...another }))
    );
  }

  findDepts(deptIds: readonly number[]): Promise<GrantedDept[]> {
    return findGrantedDepts(this.#manager, this.ctx, deptIds);
  }

  /** Whether any account but these can still do everything. */
  hasOtherSuperadmin(userIds: readonly number[]): Promise<boolean> {
    const roles = Like('superadmin%');
    const whole = { roles, status: '0', dataScope: 'all' as const };
    return this.#accounts.exists({ ...whole, userId: Not(In([...userIds])), ...LIVE });
  }

  async add(fields: AccountFields, passwordHash: string): Promise<number> {
    const defaults = { usernameKey: usernameKey(fields.username), nameKey: 0 };
    const [userId = 0] = await this.#rows.insert({ ...fields, passwordHash, ...defaults });
    return userId;
  }

  /** Gives the new revision. */
  replace(account: AccountEntity, fields: AccountFields): Promise<number> {
    const renamed = fields.username === account.username ? {} : { usernameKey: usernameKey(fields.username) };
    return this.#rows.update(account, { ...fields, ...renamed });
  }

  /** Also ends the account's sessions, and lifts its locks for all clients. Gives the new revision. */
  async setPassword(account: AccountEntity, passwordHash: string): Promise<number> {
    const { userId, username } = account;
    // The account first: a sign-in that is under way holds it until its session is there to be ended.
    const revision = await this.#rows.update(account, { passwordHash });
    const failures = { accountHash: accountHash(this.ctx.tenantId, username) };
    await new ScopedTable(this.#manager, FailedSignInEntity).update(failures, { accountHash: FORGIVEN });
    const sessions = new TenantBound(this.#manager, SessionEntity, this.ctx);
    await sessions.update({ userId, endedAt: IsNull() }, { endedAt: this.now });
    return revision;
  }

  /** A deleted account gives its name free. */
  markDeleted(accounts: readonly AccountEntity[]): Promise<void> {
    return this.#rows.markDeleted(accounts, { nameKey: () => 'user_id' });
  }
}

/**
 * Of a caller who manages a part: the accounts of departments in it. The statement itself looks at the path of each account's department:
 * one that moves away takes its accounts with it at once.
 */
function managedBy(ctx: RequestContext): Where {
  const { isWhole, deptIds } = ManagedPart.of(ctx);
  if (isWhole) return {};
  if (deptIds.length === 0) return { deptId: In([]) };
  const path = "CONCAT(dept.ancestors, ',', dept.dept_id, ',')";
  const isHeld = deptIds.map((_, n) => `:instr(${path}, :root${n}) > 0`).join(' OR ');
  const sql = (
    column: string,
  ): string => `(SELECT 1 FROM :tenantry_dept dept WHERE dept.tenant_id = :tenantOfPart
    AND dept.dept_id = ${column} AND dept.del_flag = '0' AND (${isHeld}) LIMIT 1) = 1`;
  const roots = deptIds.map((id, n) => [`root${n}`, `,${id},`] as const);
  return { deptId: Raw(sql, { tenantOfPart: ctx.tenantId, ...Object.fromEntries(roots) }) };
}
