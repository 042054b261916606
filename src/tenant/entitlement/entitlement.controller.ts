import { Get } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { MANAGERS, READERS } from '../../tenancy/roles';
import { TenantErrors } from '../../tenancy/tenant.errors';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import { PathTextId } from '../../web/params';
import { EntitlementDto } from './entitlement.dto';
import { EntitlementService } from './entitlement.service';

@OrganisationController('system/entitlement-api', 'Entitlements')
export class EntitlementController {
  constructor(private readonly entitlements: EntitlementService) {}

  @Get()
  @Operation({
    id: 'getEntitlement',
    summary: 'Read what your tenant may do now',
    description:
      'The answer has its state, service period, menus, accounts, quotas and rules. The `ETag` changes when any of it does.',
    roles: READERS,
    permission: 'entitlement:read',
    data: EntitlementDto,
    refusals: [],
  })
  own(@Ctx() ctx: RequestContext): Promise<EntitlementDto> {
    return this.entitlements.of(ctx);
  }

  @Get(':id')
  @Operation({
    id: 'getEntitlementOfTenant',
    summary: 'Read what a tenant at or below your own may do now',
    description:
      'The `id` is the internal one, as the list of tenants shows it. A tenant that is not served can be read, too: its `state` tells why.',
    roles: MANAGERS,
    permission: 'entitlement:read',
    data: EntitlementDto,
    refusals: [TenantErrors.NOT_FOUND],
  })
  ofTenant(@Ctx() ctx: RequestContext, @PathTextId() id: string): Promise<EntitlementDto> {
    return this.entitlements.ofTenant(ctx, id);
  }
}
