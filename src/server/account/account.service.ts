import { Injectable } from '@nestjs/common';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { HttpErrors } from '../../errors/http.errors';
import type { Refusal } from '../../errors/refusal';
import { hasInvisible, NO_INVISIBLE, usernameKey } from '../../tenancy/account-name';
import { PartErrors } from '../../tenancy/access.errors';
import { ManagedPart } from '../../tenancy/managed-part';
import type { RequestContext } from '../../tenancy/request-context';
import { fromRoles, isManager, PART_MANAGERS, requireRole, toRoles } from '../../tenancy/roles';
import { refuseForeignTenant } from '../../tenancy/tenant-access';
import type { AccountEntity } from '../auth/account.entity';
import { TenantService } from '../../tenant/tenant.service';
import { ZonedTime } from '../../time/zoned-time';
import type { ChangeDto } from '../../web/change.dto';
import { ChangeReader } from '../../journal/change-reader.repository';
import { toChangeView } from '../../journal/change-view';
import { mergePatch } from '../../resource/fields';
import { filtersOf, PagedList, type PageView } from '../../database/page';
import type { PageQuery } from '../../web/page-query.dto';
import { isText } from '../../web/field-rules';
import { refuseOneTagForMany, refuseStale, type Expected } from '../../database/revision';
import {
  deptsToLookUp,
  hasRolesAbove,
  refuseBeyond,
  refuseOddGrant,
  refuseUnknownDepts,
  type Grant,
} from '../auth/grant.rules';
import type { GrantedDept } from '../auth/granted-depts.repository';
import type { SessionDto } from '../auth/auth.dto';
import { SignInErrors } from '../auth/auth.errors';
import { Passwords } from '../auth/password-hasher';
import { SessionRepository } from '../auth/session.repository';
import { SignInRepository, type OpenSession } from '../auth/sign-in.repository';
import { accountOfSubject, accountSubject } from '../auth/token-issuer';
import { AccountStateCache } from '../auth/verified-tokens';
import type {
  ChangePasswordDto,
  CreateAccountDto,
  PatchAccountDto,
  UpdateAccountDto,
  AccountDto,
  AccountFieldsDto,
  AccountListQuery,
} from './account.dto';
import { AccountErrors } from './account.errors';
import {
  toAccountFields,
  toAccountDto,
  toAccountRow,
  toAccountSent,
  type AccountFields,
} from './account.mapper';
import { AccountRepository, type AccountReader, type LockedAccounts } from './account.repository';

const ACCOUNTS = new PagedList('user', ['long']);

/** Reading accounts. */
@Injectable()
export class AccountListService {
  constructor(
    private readonly users: AccountRepository,
    private readonly journal: ChangeReader,
    private readonly time: ZonedTime,
  ) {}

  async get(ctx: RequestContext, userId: number): Promise<AccountDto> {
    const accounts = this.users.in(ctx);
    const account = await accounts.find(userId);
    if (!account) throw await missing(ctx, accounts, [userId]);
    return toAccountDto(account, this.time);
  }

  /** A page of all that was done to one account, the newest first. */
  async history(ctx: RequestContext, userId: number, query: PageQuery): Promise<PageView<ChangeDto>> {
    const page = await this.journal.findHistory(ctx, 'user', userId, query);
    const isSure = page.rows.length > 0 && ManagedPart.of(ctx).isWhole;
    const accounts = this.users.in(ctx);
    if (!isSure && !(await accounts.everHad(userId)))
      throw await missing(ctx, accounts, [userId], { ever: true });
    return { ...page, rows: page.rows.map((entry) => toChangeView(entry, this.time, ctx.tenantId)) };
  }

  /** A page of the accounts that match, in the order of ids. */
  async list(ctx: RequestContext, query: AccountListQuery): Promise<PageView<AccountDto>> {
    const page = await ACCOUNTS.page([ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      this.users.in(ctx).findPage(query, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toAccountRow(row, this.time)) };
  }
}

/** The rules of accounts. */
@Injectable()
export class AccountService {
  constructor(
    private readonly users: AccountRepository,
    private readonly tenants: TenantService,
    private readonly passwords: Passwords,
    private readonly accountStates: AccountStateCache,
  ) {}

  /** Gives the id of the new account. */
  async create(ctx: RequestContext, dto: CreateAccountDto, once?: IdempotentRequest): Promise<number> {
    const before = once && (await this.users.recall(once));
    if (before !== undefined) return before;
    const fields = toAccountFields(dto);
    refuseOddName(fields.username);
    refuseOddGrant(fields);
    const target = await this.#tenantFor(ctx, dto);
    refuseRolesAbove(target, fields.roles);
    const hash = await this.passwords.hash(dto.password);
    const create = async (accounts: LockedAccounts): Promise<number> => {
      const depts = await checkedDepts(target, accounts, fields);
      const limit = await accounts.findLimit();
      if (limit >= 0 && (await accounts.count()) >= limit) throw AccountErrors.LIMIT();
      if (await accounts.hasUsername(fields.username)) throw AccountErrors.USERNAME_TAKEN();
      refuseDisabledDept(depts, fields.deptId);
      return accounts.add(fields, hash);
    };
    return this.users.transaction(target, create, once);
  }

  /** Replaces an account; its password stays. Gives its new revision. */
  update(ctx: RequestContext, dto: UpdateAccountDto, expected?: Expected): Promise<number> {
    return this.#change(ctx, dto.userId, dto, expected, () => dto);
  }

  /** Changes what the patch names, and resets what it sets to null; otherwise as `update` does. */
  patch(ctx: RequestContext, userId: number, patch: PatchAccountDto, expected?: Expected): Promise<number> {
    const merged = (account: AccountEntity) => mergePatch(toAccountSent(account), patch) as unknown;
    return this.#change(ctx, userId, patch, expected, (account) => merged(account) as AccountFieldsDto);
  }

  async #change(
    ctx: RequestContext,
    userId: number,
    { roles, tenantId }: Pick<AccountFieldsDto, 'roles' | 'tenantId'>,
    expected: Expected,
    fieldsOf: (account: AccountEntity) => AccountFieldsDto,
  ): Promise<number> {
    refuseRolesAbove(ctx, fromRoles(roles ?? []));
    refuseForeignTenant(ctx, tenantId);
    const revision = await this.users.transaction(ctx, async (accounts) => {
      const account = await accounts.find(userId);
      if (!account) throw await missing(ctx, accounts, [userId]);
      refuseRolesAbove(ctx, account.roles);
      const fields = toAccountFields(fieldsOf(account));
      refuseOddGrant(fields);
      const depts = await checkedDepts(ctx, accounts, fields, account);
      refuseStale(account, expected);
      // A name of version 0.1 may stay as it is.
      if (fields.username !== account.username) {
        refuseOddName(fields.username);
        if (await accounts.hasUsername(fields.username, account.userId)) throw AccountErrors.USERNAME_TAKEN();
      }
      if (fields.deptId !== account.deptId) refuseDisabledDept(depts, fields.deptId);
      if (isActiveSuperadmin(account) && !isActiveSuperadmin(fields))
        await refuseLastSuperadmin(accounts, [account.userId]);
      return accounts.replace(account, fields);
    });
    this.accountStates.forget(accountSubject(userId));
    return revision;
  }

  /** Deletes all of these accounts, or none. */
  async delete(ctx: RequestContext, userIds: readonly number[], expected?: Expected): Promise<void> {
    refuseOneTagForMany(userIds, expected);
    await this.users.transaction(ctx, async (accounts) => {
      const found = await accounts.findMany(userIds);
      const known = idsOf(found);
      const unknown = [...new Set(userIds)].filter((userId) => !known.includes(userId));
      if (unknown.length > 0) throw await missing(ctx, accounts, unknown);
      const above = found.filter(({ roles }) => hasRolesAbove(ctx, roles));
      if (above.length > 0) throw AccountErrors.ROLE_TOO_HIGH({ ids: idsOf(above) });
      await refuseMoreThanOwn(ctx, accounts, found);
      for (const account of found) refuseStale(account, expected);
      const superadmins = idsOf(found.filter(isActiveSuperadmin));
      if (superadmins.length > 0) await refuseLastSuperadmin(accounts, superadmins);
      await accounts.markDeleted(found);
    });
    for (const userId of userIds) this.accountStates.forget(accountSubject(userId));
  }

  /**
   * The caller's own password with the old one; as an administrator another account's, without it. Ends the account's
   * sessions. Wrong old passwords count for the client that sends them. Gives the new revision.
   */
  async changePassword(ctx: RequestContext, dto: ChangePasswordDto, client = ''): Promise<number> {
    const callerId = accountOfSubject(ctx.subject);
    const userId = dto.userId ?? callerId;
    if (userId === null) throw AccountErrors.NOT_FOUND();
    const isOwn = userId === callerId;
    // Before the look-up: a caller that may not see accounts must not learn which exist.
    if (!isOwn) requireRole(ctx.roles, PART_MANAGERS);
    const find = (accounts: Pick<AccountReader, 'find' | 'findOwn'>): Promise<AccountEntity | null> =>
      isOwn ? accounts.findOwn(userId) : accounts.find(userId);
    const account = await find(this.users.in(ctx));
    if (!account) throw await missing(ctx, this.users.in(ctx), [userId]);
    if (isOwn) {
      const { tenantId, username } = account;
      const attempt = { tenantId, username, password: dto.oldPassword ?? '', client };
      const { refused } = await this.passwords.check(attempt, () => find(this.users.in(ctx)));
      if (refused) throw AccountErrors.WRONG_PASSWORD();
    } else refuseRolesAbove(ctx, account.roles);
    const hash = await this.passwords.hash(dto.newPassword);
    const revision = await this.users.transaction(ctx, async (accounts) => {
      const current = await find(accounts);
      if (!current) throw await missing(ctx, accounts, [userId]);
      if (!isOwn) {
        refuseRolesAbove(ctx, current.roles);
        await refuseMoreThanOwn(ctx, accounts, [current]);
      }
      // It was changed meanwhile: what was checked is no longer the old password.
      else if (current.passwordHash !== account.passwordHash) throw AccountErrors.WRONG_PASSWORD();
      return accounts.setPassword(current, hash);
    });
    this.accountStates.forget(accountSubject(userId));
    return revision;
  }

  /** The caller's own tenant; or one below it, for its administrators only. */
  async #tenantFor(ctx: RequestContext, { tenantId, roles }: CreateAccountDto): Promise<RequestContext> {
    if (tenantId == null || tenantId === ctx.tenantId) return ctx;
    if (!isManager(ctx.roles)) refuseForeignTenant(ctx, tenantId);
    const below = await this.tenants.contextBelow(ctx, tenantId);
    if (!roles?.includes('tenant_admin')) throw AccountErrors.ROLE_TOO_HIGH();
    return below;
  }
}

const SESSIONS = new PagedList('session', ['time', 'uuid']);

/** The sessions of accounts. */
@Injectable()
export class AccountSessionService {
  constructor(
    private readonly users: AccountRepository,
    private readonly signIns: SignInRepository,
    private readonly sessions: SessionRepository,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the sessions that can be refreshed, the newest first. */
  async list(ctx: RequestContext, userId: number, query: PageQuery): Promise<PageView<SessionDto>> {
    await this.#find(ctx, userId);
    const page = await SESSIONS.page([ctx.tenantId, userId], query, (after, limit) =>
      this.signIns.in(ctx).findOpen(userId, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => this.#view(row, ctx)) };
  }

  /** Ends all sessions of an account. */
  async endAll(ctx: RequestContext, userId: number): Promise<void> {
    await this.#findToEnd(ctx, userId);
    await this.sessions.end({ tenantId: ctx.tenantId, userId });
  }

  async end(ctx: RequestContext, userId: number, sessionId: string): Promise<void> {
    await this.#findToEnd(ctx, userId);
    const isEnded = await this.sessions.end({ tenantId: ctx.tenantId, userId, sessionId });
    if (!isEnded) throw SignInErrors.SESSION_NOT_FOUND();
  }

  async #find(ctx: RequestContext, userId: number): Promise<AccountEntity> {
    const accounts = this.users.in(ctx);
    const account = await accounts.find(userId);
    if (!account) throw await missing(ctx, accounts, [userId]);
    return account;
  }

  async #findToEnd(ctx: RequestContext, userId: number): Promise<void> {
    const account = await this.#find(ctx, userId);
    refuseRolesAbove(ctx, account.roles);
    await refuseMoreThanOwn(ctx, this.users.in(ctx), [account]);
  }

  #view(row: OpenSession, ctx: RequestContext): SessionDto {
    return {
      sessionId: row.sessionId,
      beginTime: this.time.format(row.createdAt),
      address: row.client,
      refreshTime: this.time.formatOrNull(row.refreshedAt),
      refreshAddress: row.refreshedClient,
      expireTime: this.time.format(row.expiresAt),
      isCurrent: row.sessionId === ctx.sessionId,
    };
  }
}

const OF_KEYS = { zh: '不能以 key: 开头', en: 'must not begin with key:' };
const TOO_LONG = {
  zh: 'NFKC 规范化后不能超过 64 个字符',
  en: 'must be at most 64 characters after NFKC normalisation',
};

/** New names only: accounts of version 0.1 may have others. */
function refuseOddName(username: string): void {
  const seen = usernameKey(username);
  // What keys do is done by `key:` and their names.
  const isOfKey = seen.toLowerCase().startsWith('key:');
  const message = hasInvisible(username)
    ? NO_INVISIBLE
    : isOfKey
      ? OF_KEYS
      : isText(seen, 64)
        ? null
        : TOO_LONG;
  if (message) throw HttpErrors.INVALID({ fields: [{ field: 'username', message }] });
}

function refuseRolesAbove(ctx: RequestContext, stored: string): void {
  if (hasRolesAbove(ctx, stored)) throw AccountErrors.ROLE_TOO_HIGH();
}

function idsOf(accounts: readonly { readonly userId: number }[]): number[] {
  return accounts.map(({ userId }) => userId).sort((a, b) => a - b);
}

/**
 * Why accounts were not found: they do not exist, or those that do are outside the part that the caller manages. Which department they
 * are in is not told: who does not manage an account cannot read it.
 */
async function missing(
  ctx: RequestContext,
  accounts: Pick<AccountReader, 'among'>,
  userIds: readonly number[],
  which: { readonly ever?: boolean } = {},
): Promise<Refusal> {
  const outside = ManagedPart.of(ctx).isWhole ? [] : await accounts.among(userIds, which);
  const ids = userIds.filter((userId) => !outside.includes(userId)).sort((a, b) => a - b);
  if (ids.length === 0) return PartErrors.OUTSIDE_MANAGED({ ids: [] });
  return AccountErrors.NOT_FOUND(userIds.length > 1 ? { ids } : {});
}

/** Nobody handles an account that has more than they have: who sets its password could sign in as it. */
async function refuseMoreThanOwn(
  ctx: RequestContext,
  accounts: Pick<AccountReader, 'findDepts'>,
  rows: readonly Grant[],
): Promise<void> {
  const depts = await accounts.findDepts(rows.flatMap((row) => deptsToLookUp(ctx, row, row)));
  for (const row of rows) refuseBeyond(ctx, row, depts);
}

/**
 * The departments that an account shall name, if they exist, and give it no more than the caller has. A `dept_admin` puts accounts into
 * departments of its own part only.
 */
async function checkedDepts(
  ctx: RequestContext,
  accounts: LockedAccounts,
  fields: Grant,
  before: Grant | null = null,
): Promise<GrantedDept[]> {
  const depts = await accounts.findDepts(deptsToLookUp(ctx, fields, before));
  refuseUnknownDepts(fields, depts, before);
  const part = ManagedPart.of(ctx);
  const own = depts.find(({ deptId }) => deptId === fields.deptId);
  if (own) part.refuseOutside([own]);
  else if (!part.isWhole) throw PartErrors.OUTSIDE_MANAGED({ ids: [] });
  for (const grant of before ? [before, fields] : [fields]) refuseBeyond(ctx, grant, depts);
  return depts;
}

function refuseDisabledDept(depts: readonly GrantedDept[], wanted: number | null): void {
  const dept = depts.find(({ deptId }) => deptId === wanted);
  if (dept && dept.status !== '0') throw AccountErrors.DEPT_DISABLED();
}

/** Who has a data scope could not give it back: nobody grants more than they have. */
function isActiveSuperadmin({
  roles,
  status,
  dataScope,
}: Pick<AccountFields, 'roles' | 'status' | 'dataScope'>): boolean {
  return status === '0' && dataScope === 'all' && toRoles(roles).includes('superadmin');
}

async function refuseLastSuperadmin(accounts: LockedAccounts, leaving: readonly number[]): Promise<void> {
  if (!(await accounts.hasOtherSuperadmin(leaving))) throw AccountErrors.LAST_SUPERADMIN({ ids: leaving });
}
