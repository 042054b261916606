import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { IdempotencyKey, PathId, PathIds, PathText, sameId, IfMatch } from '../../web/params';
import { JsonBody, QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import { SessionDto } from '../auth/auth.dto';
import { SignInErrors } from '../auth/auth.errors';
import { PART_MANAGERS, READERS } from '../../tenancy/roles';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { IdempotencyErrors } from '../../database/database.errors';
import { PartErrors } from '../../tenancy/access.errors';
import { DeptErrors } from '../../dept/dept.errors';
import { ClientNetwork, PATCH_TYPES } from '../../web/request';
import { ChangeDto } from '../../web/change.dto';
import { Changed, Created } from '../../web/envelope';
import type { PageView } from '../../database/page';
import { PageQuery } from '../../web/page-query.dto';
import type { Expected } from '../../database/revision';
import { RevisionErrors } from '../../errors/http.errors';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { TenantErrors } from '../../tenancy/tenant.errors';
import {
  ChangePasswordDto,
  CreateAccountDto,
  PatchAccountDto,
  UpdateAccountDto,
  AccountDto,
  AccountListQuery,
} from './account.dto';
import { AccountErrors } from './account.errors';
import { AccountListService, AccountService, AccountSessionService } from './account.service';

const EXAMPLE = { username: 'zhangsan', nickname: '张三', roles: ['member'] };

const FIELDS = [
  AccountErrors.ROLE_TOO_HIGH,
  PartErrors.OUTSIDE_MANAGED,
  PartErrors.OUTSIDE_SCOPE,
  AccountErrors.USERNAME_TAKEN,
  DeptErrors.NOT_FOUND,
  AccountErrors.DEPT_DISABLED,
];

const CHANGE = [
  ...FIELDS,
  AccountErrors.NOT_FOUND,
  AccountErrors.LAST_SUPERADMIN,
  TenantErrors.MISMATCH,
  RevisionErrors.STALE,
];

const ENDS_SESSIONS =
  'Access and refresh tokens are refused from then on, here at once and by other replicas within five seconds.';
const END_SESSIONS = [
  AccountErrors.NOT_FOUND,
  AccountErrors.ROLE_TOO_HIGH,
  PartErrors.OUTSIDE_MANAGED,
  PartErrors.OUTSIDE_SCOPE,
];
const SESSION_ID = {
  name: 'sessionId',
  description: 'As the list of sessions shows it.',
  example: '0b9f6c1e-8d3a-4a53-9d0e-2f1f5f1c7a10',
};

@OrganisationController('system/user-api', 'Accounts')
export class AccountController {
  constructor(
    private readonly users: AccountService,
    private readonly lists: AccountListService,
    private readonly sessions: AccountSessionService,
  ) {}

  @Post()
  @Operation({
    id: 'createUser',
    summary: 'Create an account',
    description:
      'A user name is unique in its tenant, and nobody grants a role above their own. In a tenant below, only administrators can be created: send its `tenantId` and the role `tenant_admin`. A `dept_admin` creates accounts with the role `member` in departments of its part.',
    body: { example: { ...EXAMPLE, password: 'a-long-password' } },
    creates: true,
    tellsTag: true,
    roles: PART_MANAGERS,
    permission: 'user:write',
    refusals: [
      ...FIELDS,
      AccountErrors.LIMIT,
      TenantErrors.MISMATCH,
      TenantErrors.NOT_FOUND,
      IdempotencyErrors.REUSED,
      SignInErrors.BUSY,
    ],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: CreateAccountDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<Created> {
    return new Created(await this.users.create(ctx, dto, once));
  }

  @Get()
  @Operation({
    id: 'listUsers',
    summary: 'List the accounts of your tenant, page by page',
    description:
      'Accounts are sorted by their ids; all filters that are sent must match. A `dept_admin` sees the accounts of departments in its part. Passwords are never listed.',
    roles: PART_MANAGERS,
    permission: 'user:read',
    page: AccountDto,
    tellsChangeCursor: true,
    refusals: [],
  })
  list(@Ctx() ctx: RequestContext, @QueryParams() query: AccountListQuery): Promise<PageView<AccountDto>> {
    return this.lists.list(ctx, query);
  }

  @Get(':id')
  @Operation({
    id: 'getUser',
    summary: 'Read an account',
    description:
      'An account of another tenant is refused like one that does not exist. Passwords are never returned.',
    roles: PART_MANAGERS,
    permission: 'user:read',
    data: AccountDto,
    refusals: [AccountErrors.NOT_FOUND, PartErrors.OUTSIDE_MANAGED],
  })
  get(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<AccountDto> {
    return this.lists.get(ctx, id);
  }

  @Get(':id/history')
  @Operation({
    id: 'getUserHistory',
    summary: 'List what was done to an account, the newest first, also after it was deleted',
    description: 'Passwords are never in it: a change of a password shows who did it and when.',
    roles: PART_MANAGERS,
    permission: 'user:read',
    page: ChangeDto,
    refusals: [AccountErrors.NOT_FOUND, PartErrors.OUTSIDE_MANAGED],
  })
  history(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<ChangeDto>> {
    return this.lists.history(ctx, id, query);
  }

  @Get(':id/sessions')
  @Operation({
    id: 'listUserSessions',
    summary: 'List the sessions of an account that are not over, the newest first',
    description:
      'When and where each began and was last refreshed. A `dept_admin` sees those of accounts in its part.',
    roles: PART_MANAGERS,
    permission: 'signin:read',
    page: SessionDto,
    refusals: [AccountErrors.NOT_FOUND, PartErrors.OUTSIDE_MANAGED],
  })
  listSessions(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<SessionDto>> {
    return this.sessions.list(ctx, id, query);
  }

  @Delete(':id/sessions')
  @Operation({
    id: 'endUserSessions',
    summary: 'End all sessions of an account',
    description: `${ENDS_SESSIONS} The account may sign in again: to keep it out, disable it or set its password.`,
    roles: PART_MANAGERS,
    permission: 'user:write',
    refusals: END_SESSIONS,
  })
  endSessions(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<void> {
    return this.sessions.endAll(ctx, id);
  }

  @Delete(':id/sessions/:sessionId')
  @Operation({
    id: 'endUserSession',
    summary: 'End one session of an account',
    description: ENDS_SESSIONS,
    roles: PART_MANAGERS,
    permission: 'user:write',
    refusals: [...END_SESSIONS, SignInErrors.SESSION_NOT_FOUND],
  })
  endSession(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @PathText(SESSION_ID) sessionId: string,
  ): Promise<void> {
    return this.sessions.end(ctx, id, sessionId);
  }

  @Put('password')
  @Operation({
    id: 'changePassword',
    summary: 'Change your own password, or reset the password of an account',
    description:
      'For your own password, send the old one; administrators reset those of others without it. All sessions of the account end, and all locks of it are lifted.',
    body: { example: { userId: 2, newPassword: 'another-long-password' } },
    tellsTag: true,
    roles: READERS,
    permission: 'user:write',
    refusals: [
      AccountErrors.NOT_FOUND,
      AccountErrors.WRONG_PASSWORD,
      AccountErrors.ROLE_TOO_HIGH,
      PartErrors.OUTSIDE_MANAGED,
      PartErrors.OUTSIDE_SCOPE,
      SignInErrors.BUSY,
    ],
  })
  async changePassword(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: ChangePasswordDto,
    @ClientNetwork() client: string,
  ): Promise<Changed> {
    return new Changed(await this.users.changePassword(ctx, dto, client));
  }

  @Put()
  @Operation({
    id: 'updateUser',
    summary: 'Replace an account; its password stays',
    description: 'A field that is not sent, or is null, gets its default (`roles`: `member`).',
    body: { example: { userId: 2, ...EXAMPLE } },
    tellsTag: true,
    roles: PART_MANAGERS,
    permission: 'user:write',
    refusals: CHANGE,
  })
  async update(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: UpdateAccountDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    return new Changed(await this.users.update(ctx, dto, expected));
  }

  @Patch(':id')
  @Operation({
    id: 'patchUser',
    summary: 'Change some fields of an account (JSON merge patch)',
    description:
      'Fields in the body are changed, null resets a field to its default; otherwise as `updateUser`.',
    body: { as: PATCH_TYPES, example: { nickname: '小张', phone: null } },
    tellsTag: true,
    roles: PART_MANAGERS,
    permission: 'user:write',
    refusals: CHANGE,
  })
  async patch(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @JsonBody() dto: PatchAccountDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    const userId = sameId('userId', id, dto.userId);
    return new Changed(await this.users.patch(ctx, userId, dto, expected));
  }

  @Delete(':id')
  @Operation({
    id: 'deleteUsers',
    summary: 'Delete one account or several',
    description:
      'Deletion is logical, takes all of them or none, and frees their names. An account with a role above your own, and the last enabled `superadmin`, cannot be deleted.',
    roles: PART_MANAGERS,
    permission: 'user:write',
    refusals: [
      AccountErrors.NOT_FOUND,
      AccountErrors.ROLE_TOO_HIGH,
      PartErrors.OUTSIDE_MANAGED,
      PartErrors.OUTSIDE_SCOPE,
      AccountErrors.LAST_SUPERADMIN,
      RevisionErrors.STALE,
    ],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @PathIds('2') ids: number[],
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.users.delete(ctx, ids, expected);
  }
}
