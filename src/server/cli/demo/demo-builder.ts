import type { INestApplicationContext } from '@nestjs/common';
import type { Role } from '../../../tenancy/roles';
import { CreateDeptDto } from '../../../dept/dept.dto';
import { DeptService } from '../../../dept/dept.service';
import { RequestContext } from '../../../tenancy/request-context';
import { PLATFORM_TENANT } from '../../../tenancy/tenant-code';
import { CreateTenantDto } from '../../../tenant/tenant.dto';
import { TenantService } from '../../../tenant/tenant.service';
import { CreateUserDto } from '../../account/user.dto';
import { UserService } from '../../account/user.service';
import { checked } from '../with-services';
import { DEMO_PLATFORM } from './demo-organisation';
import type { DemoContent, DemoDept, DemoTenant } from './demo-shapes';

/** Somebody who can sign in. */
export interface DemoUser {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly username: string;
  readonly role: Role;
}

/** Adds the example organisation through the services, so that all rules of the API hold for it. */
export class DemoBuilder {
  readonly users: DemoUser[] = [];
  tenantCount = 1;
  deptCount = 0;

  readonly #tenants: TenantService;
  readonly #depts: DeptService;
  readonly #accounts: UserService;

  constructor(
    services: INestApplicationContext,
    private readonly password: string,
  ) {
    this.#tenants = services.get(TenantService, { strict: false });
    this.#depts = services.get(DeptService, { strict: false });
    this.#accounts = services.get(UserService, { strict: false });
  }

  async build(): Promise<void> {
    const ctx = RequestContext.system(PLATFORM_TENANT);
    const { tenantName } = await this.#tenants.getOwn(ctx);
    this.users.push({ tenantId: PLATFORM_TENANT, tenantName, username: 'admin', role: 'superadmin' });
    await this.#fill(ctx, tenantName, DEMO_PLATFORM);
  }

  async #addTenant(parent: RequestContext, tenant: DemoTenant): Promise<void> {
    const id = await this.#tenants.create(parent, await checked(CreateTenantDto, tenant.fields));
    const { tenantId, tenantName } = await this.#tenants.get(parent, id);
    this.tenantCount += 1;
    await this.#fill(RequestContext.system(tenantId), tenantName, tenant);
  }

  async #fill(ctx: RequestContext, tenantName: string, content: DemoContent): Promise<void> {
    const deptIds = new Map<string, number>();
    await this.#addDepts(ctx, 0, content.depts, content.domain, deptIds);
    for (const { username, nickname, role, dept } of content.accounts) {
      const deptId = dept === undefined ? undefined : deptIds.get(dept);
      const email = `${username}@${content.domain}`;
      const body = { username, nickname, deptId, email, roles: [role], password: this.password };
      await this.#accounts.create(ctx, await checked(CreateUserDto, body));
      this.users.push({ tenantId: ctx.tenantId, tenantName, username, role });
    }
    for (const tenant of content.tenants) await this.#addTenant(ctx, tenant);
  }

  async #addDepts(
    ctx: RequestContext,
    parentId: number,
    depts: readonly DemoDept[],
    domain: string,
    deptIds: Map<string, number>,
  ): Promise<void> {
    for (const [index, { children, ...fields }] of depts.entries()) {
      this.deptCount += 1;
      const contact = {
        phone: String(13_800_000_000 + this.deptCount),
        email: `office${this.deptCount}@${domain}`,
      };
      const body = { ...fields, ...contact, parentId, orderNum: index + 1 };
      const deptId = await this.#depts.create(ctx, await checked(CreateDeptDto, body));
      deptIds.set(fields.deptName, deptId);
      await this.#addDepts(ctx, deptId, children, domain, deptIds);
    }
  }
}
