import { Injectable } from '@nestjs/common';
import { filtersOf, PagedList, type PageView } from '../../database/page';
import { HttpErrors } from '../../errors/http.errors';
import { Refusal } from '../../errors/refusal';
import type { DataScope } from '../../tenancy/data-scope';
import { PermissionCatalogue } from '../../tenancy/permissions';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantAdmission } from '../../tenancy/tenant-access';
import { menusOf } from '../../tenant/tenant.entity';
import { TenantService } from '../../tenant/tenant.service';
import { ZonedTime, type TimeSpan } from '../../time/zoned-time';
import { NOT_A_TIME } from '../../web/fields';
import { version } from '../config/version';
import type { AccountEntity, SessionEntity } from './account.entity';
import type { MeDto, SignInDto, SignInListQuery, TokensDto } from './auth.dto';
import { SignInErrors } from './auth.errors';
import { Passwords, type PasswordAttempt } from './password-hasher';
import { SessionRepository } from './session.repository';
import type { NoteSignIn, SignInOutcome } from './sign-in-note';
import { SignInRepository, type SignInRecord } from './sign-in.repository';
import { accountOfSubject, TokenIssuer } from './token-issuer';

/** A refresh token that a client sends. */
interface RefreshAttempt {
  readonly refreshToken: string;
  readonly scope: string | undefined;
  /** An IPv4 address or an IPv6 network. */
  readonly client: string;
}

/** The rules of signing in and staying in. Callers are not told why they are refused; the log and the metrics are. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly passwords: Passwords,
    private readonly tenants: TenantAdmission,
    private readonly issuer: TokenIssuer,
  ) {}

  /** Wrong tenant, user or password, disabled and locked accounts: the same answer after the same time. */
  async login(attempt: PasswordAttempt, scope: string | undefined, note: NoteSignIn): Promise<TokensDto> {
    this.issuer.refuseWhenClosed();
    const asked = this.issuer.askedFor(scope);
    const { tenantId, username, client } = attempt;
    note({ tenant: tenantId, user: username });
    const find = () => this.sessions.findAccount(tenantId, username);
    const { account, refused } = await this.passwords.check(attempt, find);
    if (account) note({ user: account.username });
    if (refused) note({ outcome: refused });
    if (!account || refused) throw SignInErrors.BAD_CREDENTIALS();
    await refusedAs('tenant_not_served', this.tenants.admit(tenantId), note);
    const { tokens, session } = this.issuer.begin(account, asked);
    await refusedAs('changed_meanwhile', this.sessions.begin(account, session, client), note);
    note({ outcome: 'signed_in', session: session.sessionId });
    return tokens;
  }

  /** Gives new tokens for a refresh token; one that was used before ends its session. */
  async refresh({ refreshToken, scope, client }: RefreshAttempt, note: NoteSignIn): Promise<TokensDto> {
    this.issuer.refuseWhenClosed();
    const [sessionId = '', secret = ''] = refreshToken.split('.', 2);
    const session = await this.sessions.find(sessionId);
    const account = session && (await this.sessions.findAccountById(session.tenantId, session.userId));
    if (session) note({ session: sessionId, tenant: session.tenantId });
    if (account) note({ user: account.username });
    const refused = this.#whyNotRefreshed(session, account);
    if (refused) note({ outcome: refused });
    if (!session || !account || refused) throw SignInErrors.REFRESH_INVALID();
    await refusedAs('tenant_not_served', this.tenants.admit(session.tenantId), note);
    const isNewest = this.issuer.isNewest(session, secret);
    if (!isNewest && !this.issuer.wasIssued(session, secret)) {
      note({ outcome: 'wrong_token' });
      throw SignInErrors.REFRESH_INVALID();
    }
    // A token that was used before ends the session, also with a scope that would be refused.
    const renewed = isNewest ? this.issuer.renew(account, session, this.issuer.askedFor(scope)) : null;
    if (!renewed || !(await this.sessions.rotate(session, renewed.renewal, client))) {
      await this.sessions.end(session);
      note({ outcome: 'reused_token' });
      throw SignInErrors.REFRESH_INVALID();
    }
    note({ outcome: 'refreshed' });
    return renewed.tokens;
  }

  #whyNotRefreshed(session: SessionEntity | null, account: AccountEntity | null): SignInOutcome | null {
    if (!session) return 'unknown_session';
    if (session.endedAt) return 'session_ended';
    if (this.sessions.hasExpired(session)) return 'session_expired';
    if (!account) return 'unknown_user';
    return account.status === '0' ? null : 'disabled';
  }
}

/** Notes the outcome when this step refuses; what fails for another cause has none. */
async function refusedAs<T>(outcome: SignInOutcome, step: Promise<T>, note: NoteSignIn): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof Refusal && error.row.status < 500) note({ outcome });
    throw error;
  }
}

const ALL: DataScope = [{ kind: 'all' }];

/** What a signed-in caller may ask about itself. */
@Injectable()
export class MeService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly tenants: TenantService,
    private readonly time: ZonedTime,
    private readonly catalogue: PermissionCatalogue,
  ) {}

  async get(ctx: RequestContext): Promise<MeDto> {
    const { tenantId, username, roles, permissions, managedDeptIds, dataScope } = ctx;
    const userId = accountOfSubject(ctx.subject);
    const account = userId === null ? null : await this.sessions.findAccountById(tenantId, userId);
    const { tenantName, menuIds } = await this.tenants.getOwnPackage(ctx);
    return {
      userId,
      username,
      nickname: account?.nickname ?? null,
      roles: [...roles],
      permissions: this.catalogue.held(roles, permissions),
      managedDeptIds: [...managedDeptIds],
      dataScope: [...(dataScope ?? ALL)],
      tenantId,
      tenantName,
      tenantState: await this.tenants.stateOf(ctx),
      menuIds: menusOf({ menuIds }),
      timeZone: this.time.timeZone,
      version,
    };
  }

  async logout({ sessionId, tenantId, subject }: RequestContext, note: NoteSignIn): Promise<void> {
    const userId = accountOfSubject(subject);
    const hasSession = sessionId !== null && userId !== null;
    if (hasSession) await this.sessions.end({ sessionId, tenantId, userId });
    note(hasSession ? { outcome: 'signed_out', session: sessionId } : { outcome: 'no_session' });
  }
}

const SIGN_INS = new PagedList('sign-in', ['time', 'uuid']);

/** Reading what is kept of sign-ins. */
@Injectable()
export class SignInListService {
  constructor(
    private readonly signIns: SignInRepository,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the sign-ins that match, the newest first. */
  async list(ctx: RequestContext, query: SignInListQuery): Promise<PageView<SignInDto>> {
    const { userId, outcome } = query;
    const from = this.#spanOf('from', query.from)?.from;
    const until = this.#spanOf('until', query.until)?.until;
    const reader = this.signIns.in(ctx);
    const page = await SIGN_INS.page([ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      reader.findPage({ userId, outcome, from, until }, after, limit),
    );
    const names = await reader.findNames(page.rows.map((row) => row.userId));
    return { ...page, rows: page.rows.map((row) => this.#view(row, names.get(row.userId) ?? '')) };
  }

  #view({ time, userId, client, reason, sessionId, endedAt }: SignInRecord, username: string): SignInDto {
    return {
      time: this.time.format(time),
      userId,
      username,
      outcome: reason === null ? 'signed_in' : 'refused',
      reason,
      address: client,
      sessionId,
      endTime: this.time.formatOrNull(endedAt),
    };
  }

  #spanOf(field: string, text: string | undefined): TimeSpan | undefined {
    if (text === undefined) return undefined;
    const span = this.time.parse(text);
    if (!span) throw HttpErrors.INVALID({ fields: [{ field, message: NOT_A_TIME }] });
    return span;
  }
}
