import { Get, Header, Post } from '@nestjs/common';
import { OpenController } from './public.decorator';
import type { PageView } from '../../database/page';
import { JsonBody, QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import { ClientNetwork } from '../../web/request';
import { HttpErrors } from '../../errors/http.errors';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { TakesCredentials } from '../rate-limit/rate-limit.guard';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { NOT_SERVED } from '../../tenancy/tenant-access';
import { LoginDto, MeDto, RefreshDto, SignInDto, SignInListQuery, TokensDto } from './auth.dto';
import { SignInErrors } from './auth.errors';
import { MANAGERS, READERS } from '../../tenancy/roles';
import { NotesSignIn, type NoteSignIn } from './sign-in-note';
import { MeService, SignInListService, SignInService } from './sign-in.service';

/** Of tenants that may not be served, and of a service whose users all come from an outside provider. */
const CLOSED = [...Object.values(NOT_SERVED), HttpErrors.NO_ROUTE];

/** Signing in: for callers who have no token yet. */
@OpenController('auth', 'Signing in')
export class SignInController {
  constructor(private readonly signIn: SignInService) {}

  @Post('login')
  @TakesCredentials('password')
  @Header('Cache-Control', 'no-store')
  @Operation({
    id: 'login',
    summary: 'Sign in with user name and password',
    description:
      'Access tokens are valid for 30 minutes, refresh tokens for 7 days. A wrong tenant, user name or password, a disabled account and a locked one get the same refusal; five wrong passwords lock the account for ten minutes, for the client that sent them. With `scope` the tokens are limited to these permissions; those that no role of the account can use are left out.',
    body: { example: { username: 'zhangsan', password: 'a-long-password' } },
    roles: [],
    permission: null,
    data: TokensDto,
    refusals: [...CLOSED, SignInErrors.BAD_CREDENTIALS, SignInErrors.INVALID_SCOPE, SignInErrors.BUSY],
  })
  login(
    @JsonBody() { tenantId, username, password, scope }: LoginDto,
    @ClientNetwork() client: string,
    @NotesSignIn('sign_in') note: NoteSignIn,
  ): Promise<TokensDto> {
    const attempt = { tenantId: tenantId ?? PLATFORM_TENANT, username, password, client };
    return this.signIn.login(attempt, scope, note);
  }

  @Post('refresh')
  @TakesCredentials('refresh token')
  @Header('Cache-Control', 'no-store')
  @Operation({
    id: 'refresh',
    summary: 'Get new tokens for a refresh token',
    description:
      'The answer has a new refresh token, and the old one cannot be used again: if it is, the whole session ends. `scope` may name fewer permissions than before, and then no later refresh gives more; a wider one is refused, and the refresh token stays good.',
    roles: [],
    permission: null,
    data: TokensDto,
    refusals: [...CLOSED, SignInErrors.REFRESH_INVALID, SignInErrors.INVALID_SCOPE],
  })
  refresh(
    @JsonBody() { refreshToken, scope }: RefreshDto,
    @ClientNetwork() client: string,
    @NotesSignIn('refresh') note: NoteSignIn,
  ): Promise<TokensDto> {
    return this.signIn.refresh({ refreshToken, scope, client }, note);
  }
}

/** For callers who are signed in. */
@OrganisationController('auth', 'Signing in')
export class SessionController {
  constructor(private readonly me: MeService) {}

  @Post('logout')
  @Operation({
    id: 'logout',
    summary: 'Sign out: ends the session of this token',
    description:
      'The refresh token of the session ends with it, too; other sessions of the account go on. A token that was issued elsewhere has no session here: nothing happens.',
    roles: READERS,
    permission: null,
    refusals: [],
  })
  logout(@Ctx() ctx: RequestContext, @NotesSignIn('sign_out') note: NoteSignIn): Promise<void> {
    return this.me.logout(ctx, note);
  }

  @Get('me')
  @Operation({
    id: 'getMe',
    summary: 'Who am I?',
    description:
      'The answer tells the account, its roles, what it may do and touch, its tenant with the menus that it may use, and the time zone and version of the service. The `userId` of a caller without an account here is null.',
    roles: READERS,
    permission: null,
    data: MeDto,
    refusals: [],
  })
  whoAmI(@Ctx() ctx: RequestContext): Promise<MeDto> {
    return this.me.get(ctx);
  }
}

/** What is kept of sign-ins: for administrators. */
@OrganisationController('system/sign-in-api', 'Signing in')
export class SignInListController {
  constructor(private readonly signIns: SignInListService) {}

  @Get()
  @Operation({
    id: 'listSignIns',
    summary: 'List the sign-ins of your tenant, the newest first',
    description:
      'Who signed in or was refused, when, from where, and the session that began. Wrong passwords and disabled accounts are told as far as the lock-out counts them: not while the account is locked, and at most 100 of an account a day. Names that belong to no account are in no list.',
    roles: MANAGERS,
    permission: 'signin:read',
    page: SignInDto,
    refusals: [],
  })
  list(@Ctx() ctx: RequestContext, @QueryParams() query: SignInListQuery): Promise<PageView<SignInDto>> {
    return this.signIns.list(ctx, query);
  }
}
