import { createHash, randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DeptService, RequestContext, TenantryTransaction } from 'tenantry';
import { Repository } from 'typeorm';
import { StaffEntity } from './staff.entity.js';

const PLATFORM = '000000';

@Injectable()
export class StaffService implements OnApplicationBootstrap {
  constructor(
    @InjectRepository(StaffEntity) private readonly staff: Repository<StaffEntity>,
    private readonly transaction: TenantryTransaction,
    private readonly depts: DeptService,
  ) {}

  /** The operator of the platform comes from its configuration. */
  async onApplicationBootstrap(): Promise<void> {
    const key = process.env.OPERATOR_KEY;
    if (key === undefined || (await this.findByKey(key))) return;
    const operator = { tenantId: PLATFORM, email: 'operator@platform.example', role: 'superadmin' } as const;
    await this.staff.insert(rowOf(key, operator));
  }

  findByKey(key: string): Promise<StaffEntity | null> {
    return this.staff.findOneBy({ keyHash: hashOf(key) });
  }

  /** A new customer: a tenant below the platform and its first administrator, or neither. */
  signUp(company: string, email: string): Promise<{ key: string; tenantId: string }> {
    const key = randomBytes(24).toString('base64url');
    return this.transaction.run(RequestContext.system(PLATFORM), async (unit) => {
      const { tenantId } = await unit.tenants.get(await unit.tenants.create({ tenantName: company }));
      await unit.manager.insert(StaffEntity, rowOf(key, { tenantId, email, role: 'tenant_admin' }));
      return { key, tenantId };
    });
  }

  /** Puts a person into a department; Tenantry refuses an unknown department. */
  async join(ctx: RequestContext, staffId: number, deptId: number): Promise<void> {
    await this.depts.get(ctx, deptId);
    await this.staff.update({ staffId, tenantId: ctx.tenantId }, { deptId });
  }
}

function rowOf(key: string, values: Pick<StaffEntity, 'tenantId' | 'email' | 'role'>) {
  return { ...values, keyHash: hashOf(key), deptId: null };
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
