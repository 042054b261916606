import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantService } from '../../tenant/tenant.service';
import type { MeDto } from './auth.dto';
import { SessionRepository } from './session.repository';
import { accountOfSubject } from './subject';

/** What a signed-in caller may ask about itself. */
@Injectable()
export class MeService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly tenants: TenantService,
  ) {}

  async get(ctx: RequestContext): Promise<MeDto> {
    const userId = accountOfSubject(ctx.subject);
    const account = userId === null ? null : await this.sessions.findAccountById(ctx.tenantId, userId);
    const tenant = await this.tenants.getOwn(ctx);
    return {
      userId,
      username: ctx.username,
      nickname: account?.nickname ?? null,
      roles: [...ctx.roles],
      tenantId: ctx.tenantId,
      tenantName: tenant.tenantName,
      tenantState: await this.tenants.stateOf(ctx),
      menuIds: tenant.packageBo.menuIds
        .split(',')
        .map((id) => id.trim())
        .filter(Boolean),
    };
  }

  async logout(ctx: RequestContext): Promise<void> {
    const { sessionId, tenantId } = ctx;
    const userId = accountOfSubject(ctx.subject);
    if (sessionId !== null && userId !== null) await this.sessions.end({ sessionId, tenantId, userId });
  }
}
