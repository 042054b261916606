import { Injectable } from '@nestjs/common';
import { hasInvisible, usernameKey } from '../../tenancy/account-name';
import { AuthErrors } from '../../tenancy/access.errors';
import { Passwords } from '../auth/password-hasher';
import { MANAGERS } from '../../tenancy/roles';
import { AccountStateCache } from '../auth/verified-tokens';
import { accountSubject, accountOfSubject } from '../auth/token-issuer';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { DeptErrors } from '../../dept/dept.errors';
import { isText } from '../../web/field-rules';
import { HttpErrors } from '../../errors/http.errors';
import { refuseOneTagForMany, refuseStale, type Expected } from '../../web/revision';
import type { RequestContext } from '../../tenancy/request-context';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { refuseForeignTenant } from '../../tenancy/tenant-access';
import { TenantService } from '../../tenant/tenant.service';
import type { AccountEntity, AccountFields } from '../../tenant/account.entity';
import type { LockedAccounts } from './locked-accounts';
import { mayHandle, toRoles } from '../../tenancy/roles';
import type { ChangePasswordDto, CreateUserDto, UpdateUserDto } from './user.dto';
import { UserErrors } from './user.errors';
import { toAccountFields } from './user.mapper';
import { UserRepository } from './user.repository';

/** The rules of accounts. */
@Injectable()
export class UserService {
  constructor(
    private readonly users: UserRepository,
    private readonly tenants: TenantService,
    private readonly passwords: Passwords,
    private readonly accountStates: AccountStateCache,
  ) {}

  async get(ctx: RequestContext, userId: number): Promise<AccountEntity> {
    const account = await this.users.in(ctx).find(userId);
    if (!account) throw UserErrors.NOT_FOUND();
    return account;
  }

  /** Gives the id of the new account. */
  async create(ctx: RequestContext, dto: CreateUserDto, once?: IdempotentRequest): Promise<number> {
    const before = once && (await this.users.recall(once));
    if (before !== undefined) return before;
    const fields = toAccountFields(dto);
    refuseOddName(fields.username);
    const where = await this.#placeOf(ctx, dto);
    refuseRolesAbove(where, fields.roles);
    const hash = await this.passwords.hash(dto.password);
    const create = async (accounts: LockedAccounts): Promise<number> => {
      const limit = await accounts.findLimit();
      if (limit >= 0 && (await accounts.count()) >= limit) throw UserErrors.LIMIT();
      if (await accounts.hasUsername(fields.username)) throw UserErrors.USERNAME_TAKEN();
      await refuseInvalidDept(accounts, fields.deptId);
      return accounts.add(fields, hash);
    };
    return this.users.transaction(where, create, once);
  }

  /** Replaces an account; its password stays. */
  async update(ctx: RequestContext, dto: UpdateUserDto, expected?: Expected): Promise<void> {
    const fields = toAccountFields(dto);
    refuseRolesAbove(ctx, fields.roles);
    refuseForeignTenant(ctx, dto.tenantId);
    await this.users.transaction(ctx, async (accounts) => {
      const account = await findManageable(ctx, accounts, dto.userId);
      refuseStale(account, expected);
      // A name of version 0.1 may stay as it is.
      if (fields.username !== account.username) {
        refuseOddName(fields.username);
        if (await accounts.hasUsername(fields.username, account.userId)) throw UserErrors.USERNAME_TAKEN();
      }
      if (fields.deptId !== account.deptId) await refuseInvalidDept(accounts, fields.deptId);
      if (isActiveSuperadmin(account) && !isActiveSuperadmin(fields))
        await refuseLast(accounts, [account.userId]);
      await accounts.replace(account, fields);
    });
    this.accountStates.forget(accountSubject(dto.userId));
  }

  /** Deletes all of these accounts, or none. */
  async delete(ctx: RequestContext, userIds: readonly number[], expected?: Expected): Promise<void> {
    refuseOneTagForMany(userIds, expected);
    await this.users.transaction(ctx, async (accounts) => {
      const found = await accounts.findMany(userIds);
      if (found.length < new Set(userIds).size) throw UserErrors.NOT_FOUND();
      for (const { roles } of found) refuseRolesAbove(ctx, roles);
      for (const account of found) refuseStale(account, expected);
      if (found.some(isActiveSuperadmin)) await refuseLast(accounts, userIds);
      await accounts.markDeleted(userIds);
    });
    for (const userId of userIds) this.accountStates.forget(accountSubject(userId));
  }

  /**
   * One's own password with the old one; another account's as an administrator, without it. Ends its sessions. Wrong old
   * passwords count for the client that sends them.
   */
  async changePassword(ctx: RequestContext, dto: ChangePasswordDto, client = ''): Promise<void> {
    const own = accountOfSubject(ctx.subject);
    const userId = dto.userId ?? own;
    if (userId === null) throw UserErrors.NOT_FOUND();
    // Before it is looked for: who may not see accounts must not learn which there are.
    if (userId !== own && !ctx.roles.some((role) => MANAGERS.includes(role))) throw AuthErrors.ROLE();
    const account = await this.get(ctx, userId);
    if (userId !== own) refuseRolesAbove(ctx, account.roles);
    else await this.#refuseWrongPassword(ctx, account, dto.oldPassword ?? '', client);
    const hash = await this.passwords.hash(dto.newPassword);
    await this.users.transaction(ctx, async (accounts) => {
      const current = await accounts.find(userId);
      if (!current) throw UserErrors.NOT_FOUND();
      if (userId !== own) refuseRolesAbove(ctx, current.roles);
      // Somebody changed it meanwhile: what was checked is no longer the old password.
      else if (current.passwordHash !== account.passwordHash) throw UserErrors.WRONG_PASSWORD();
      await accounts.setPassword(current, hash);
    });
    this.accountStates.forget(accountSubject(userId));
  }

  async #refuseWrongPassword(
    ctx: RequestContext,
    { userId, username }: AccountEntity,
    password: string,
    client: string,
  ): Promise<void> {
    const proof = { tenantId: ctx.tenantId, username, password, client };
    if (!(await this.passwords.check(proof, () => this.users.in(ctx).find(userId))))
      throw UserErrors.WRONG_PASSWORD();
  }

  /** The caller's own tenant; or one below it, which gets an administrator that way. */
  async #placeOf(ctx: RequestContext, { tenantId, roles }: CreateUserDto): Promise<RequestContext> {
    if (tenantId == null || tenantId === ctx.tenantId) return ctx;
    const below = await this.tenants.contextBelow(ctx, tenantId);
    if (!roles?.includes('tenant_admin')) throw UserErrors.ROLE_TOO_HIGH();
    return below;
  }
}

const INVISIBLE = { zh: '不能包含不可见字符', en: 'must not contain invisible characters' };
const TOO_LONG = {
  zh: 'NFKC 规范化后不能超过 64 个字符',
  en: 'must be at most 64 characters after NFKC normalisation',
};

/** New names only: accounts of version 0.1 may have others. */
function refuseOddName(username: string): void {
  if (hasInvisible(username))
    throw HttpErrors.INVALID({ fields: [{ field: 'username', message: INVISIBLE }] });
  if (!isText(usernameKey(username), 64))
    throw HttpErrors.INVALID({ fields: [{ field: 'username', message: TOO_LONG }] });
}

/** superadmin exists only on the platform, and nobody handles a role above the own. */
function refuseRolesAbove(ctx: RequestContext, stored: string): void {
  const roles = toRoles(stored);
  const misplaced = roles.includes('superadmin') && ctx.tenantId !== PLATFORM_TENANT;
  if (misplaced || !mayHandle(ctx.roles, roles)) throw UserErrors.ROLE_TOO_HIGH();
}

async function findManageable(
  ctx: RequestContext,
  accounts: LockedAccounts,
  userId: number,
): Promise<AccountEntity> {
  const account = await accounts.find(userId);
  if (!account) throw UserErrors.NOT_FOUND();
  refuseRolesAbove(ctx, account.roles);
  return account;
}

async function refuseInvalidDept(accounts: LockedAccounts, deptId: number | null): Promise<void> {
  if (deptId === null) return;
  const dept = await accounts.findDept(deptId);
  if (!dept) throw DeptErrors.NOT_FOUND();
  if (dept.status !== '0') throw UserErrors.DEPT_DISABLED();
}

function isActiveSuperadmin({ roles, status }: Pick<AccountFields, 'roles' | 'status'>): boolean {
  return status === '0' && toRoles(roles).includes('superadmin');
}

async function refuseLast(accounts: LockedAccounts, leaving: readonly number[]): Promise<void> {
  if (!(await accounts.hasSuperadminBeside(leaving))) throw UserErrors.LAST_SUPERADMIN();
}
