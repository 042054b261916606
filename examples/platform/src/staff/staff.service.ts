import { createHash, randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DeptService, RequestContext, TenantService } from 'tenantry';
import { Repository } from 'typeorm';
import { StaffEntity } from './staff.entity.js';

const PLATFORM = '000000';

@Injectable()
export class StaffService implements OnApplicationBootstrap {
  constructor(
    @InjectRepository(StaffEntity) private readonly staff: Repository<StaffEntity>,
    private readonly tenants: TenantService,
    private readonly depts: DeptService,
  ) {}

  /** The platform's operator comes from the configuration. */
  async onApplicationBootstrap(): Promise<void> {
    const key = process.env.OPERATOR_KEY;
    if (key === undefined || (await this.findByKey(key))) return;
    await this.#add(key, { tenantId: PLATFORM, email: 'operator@platform.example', role: 'superadmin' });
  }

  findByKey(key: string): Promise<StaffEntity | null> {
    return this.staff.findOneBy({ keyHash: hashOf(key) });
  }

  /** A new customer: a tenant below the platform, and its first administrator. */
  async signUp(company: string, email: string): Promise<{ key: string; tenantId: string }> {
    const system = RequestContext.system(PLATFORM);
    const id = await this.tenants.create(system, { tenantName: company });
    const { tenantId } = await this.tenants.get(system, id);
    const key = randomBytes(24).toString('base64url');
    await this.#add(key, { tenantId, email, role: 'tenant_admin' });
    return { key, tenantId };
  }

  /** Puts a person into a department; Tenantry refuses one that does not exist. */
  async join(ctx: RequestContext, staffId: number, deptId: number): Promise<void> {
    await this.depts.get(ctx, deptId);
    await this.staff.update({ staffId, tenantId: ctx.tenantId }, { deptId });
  }

  async #add(key: string, values: Pick<StaffEntity, 'tenantId' | 'email' | 'role'>): Promise<void> {
    await this.staff.insert({ ...values, keyHash: hashOf(key), deptId: null });
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
