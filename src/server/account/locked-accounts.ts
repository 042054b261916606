import { In, IsNull, Like, Not } from 'typeorm';
import { usernameKey } from '../../tenancy/account-name';
import type { SessionEntity, AccountEntity, AccountFields } from '../../tenant/account.entity';
import type { AuditStamp } from '../../database/audited';
import type { DeptEntity } from '../../dept/dept.entity';
import type { TenantBound } from '../../tenancy/tenant-bound';

const LIVE = { delFlag: '0' } as const;

/** A tenant's accounts inside a unit of work that holds the tenant: the only way to write to them. */
export class LockedAccounts {
  readonly #accounts: TenantBound<AccountEntity>;
  readonly #depts: TenantBound<DeptEntity>;
  readonly #sessions: TenantBound<SessionEntity>;

  constructor(
    accounts: TenantBound<AccountEntity>,
    depts: TenantBound<DeptEntity>,
    sessions: TenantBound<SessionEntity>,
    private readonly audit: AuditStamp,
    /** How many accounts the tenant may have; -1 is any number. */
    readonly findLimit: () => Promise<number>,
    /** Forgets the wrong passwords for a user name, from wherever they came. */
    private readonly forgiveFailures: (username: string) => Promise<void>,
  ) {
    this.#accounts = accounts;
    this.#depts = depts;
    this.#sessions = sessions;
  }

  find(userId: number): Promise<AccountEntity | null> {
    return this.#accounts.findOne({ userId, ...LIVE });
  }

  findMany(userIds: readonly number[]): Promise<AccountEntity[]> {
    return this.#accounts.find({ userId: In([...userIds]), ...LIVE });
  }

  count(): Promise<number> {
    return this.#accounts.count(LIVE);
  }

  /** Whether another account than this one has that name, or one that looks the same. */
  async hasUsername(username: string, userId = 0): Promise<boolean> {
    const another = { userId: Not(userId), nameKey: 0 };
    // Two questions, each with an index of its own: SQLite would walk through the tenant for both at once.
    return (
      (await this.#accounts.exists({ username, ...another })) ||
      (await this.#accounts.exists({ usernameKey: usernameKey(username), ...another }))
    );
  }

  findDept(deptId: number): Promise<DeptEntity | null> {
    return this.#depts.findOne({ deptId, ...LIVE });
  }

  /** Whether any other account than these can still do everything. */
  hasSuperadminBeside(userIds: readonly number[]): Promise<boolean> {
    const roles = Like('superadmin%');
    return this.#accounts.exists({ roles, status: '0', userId: Not(In([...userIds])), ...LIVE });
  }

  async add(fields: AccountFields, passwordHash: string): Promise<number> {
    const { username } = fields;
    const fresh = { passwordHash, usernameKey: usernameKey(username), nameKey: 0, failedLogins: 0 };
    return this.#accounts.insert({ ...fields, ...fresh, ...this.audit.created() });
  }

  async replace({ userId, username }: AccountEntity, fields: AccountFields): Promise<void> {
    const renamed = fields.username === username ? {} : { usernameKey: usernameKey(fields.username) };
    await this.#accounts.update({ userId, ...LIVE }, { ...fields, ...renamed, ...this.audit.touched() });
  }

  /** Also signs the account out everywhere, and lifts its locks. */
  async setPassword({ userId, username }: AccountEntity, passwordHash: string): Promise<void> {
    await this.#accounts.update({ userId, ...LIVE }, { passwordHash, ...this.audit.touched() });
    await this.forgiveFailures(username);
    await this.#sessions.update({ userId, endedAt: IsNull() }, { endedAt: this.audit.touched().updateTime });
  }

  async markDeleted(userIds: readonly number[]): Promise<void> {
    const values = { delFlag: '2', nameKey: () => 'user_id', ...this.audit.touched() };
    await this.#accounts.update({ userId: In([...userIds]), ...LIVE }, values);
  }
}
