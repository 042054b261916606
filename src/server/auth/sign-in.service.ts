import { Injectable } from '@nestjs/common';
import type { DataScope } from '../../tenancy/data-scope';
import { PermissionCatalogue } from '../../tenancy/permissions';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantAdmission } from '../../tenancy/tenant-access';
import { menusOf } from '../../tenant/tenant.entity';
import { TenantService } from '../../tenant/tenant.service';
import { ZonedTime } from '../../time/zoned-time';
import { version } from '../config/version';
import type { MeDto, TokensDto } from './auth.dto';
import { SignInErrors } from './auth.errors';
import { Passwords, type PasswordAttempt } from './password-hasher';
import { SessionRepository } from './session.repository';
import { accountOfSubject, TokenIssuer } from './token-issuer';

/** The rules of signing in and staying in. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly passwords: Passwords,
    private readonly tenants: TenantAdmission,
    private readonly issuer: TokenIssuer,
  ) {}

  /** Wrong tenant, user or password, disabled and locked accounts: the same answer after the same time. */
  async login(attempt: PasswordAttempt, scope?: string): Promise<TokensDto> {
    this.issuer.refuseWhenClosed();
    const asked = this.issuer.askedFor(scope);
    const { tenantId, username } = attempt;
    const account = await this.passwords.check(attempt, async () => {
      const found = await this.sessions.findAccount(tenantId, username);
      return found?.status === '0' ? found : null;
    });
    if (!account) throw SignInErrors.BAD_CREDENTIALS();
    await this.tenants.admit(tenantId);
    const { tokens, session } = this.issuer.begin(account, asked);
    await this.sessions.begin(account, session);
    return tokens;
  }

  /** Gives new tokens for a refresh token; one that was used before ends its session. */
  async refresh(refreshToken: string, scope?: string): Promise<TokensDto> {
    this.issuer.refuseWhenClosed();
    const [sessionId = '', secret = ''] = refreshToken.split('.', 2);
    const session = await this.sessions.findOpen(sessionId);
    const account = session && (await this.sessions.findAccountById(session.tenantId, session.userId));
    if (!session || account?.status !== '0') throw SignInErrors.REFRESH_INVALID();
    await this.tenants.admit(session.tenantId);
    // A token that was used before ends the session, also with a scope that would be refused.
    const renewed = this.issuer.isNewest(session, secret)
      ? this.issuer.renew(account, session, this.issuer.askedFor(scope))
      : null;
    if (!renewed || !(await this.sessions.rotate(session, renewed.renewal))) {
      await this.sessions.end(session);
      throw SignInErrors.REFRESH_INVALID();
    }
    return renewed.tokens;
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

  async logout({ sessionId, tenantId, subject }: RequestContext): Promise<void> {
    const userId = accountOfSubject(subject);
    if (sessionId !== null && userId !== null) await this.sessions.end({ sessionId, tenantId, userId });
  }
}
