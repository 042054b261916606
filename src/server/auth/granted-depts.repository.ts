import { In, type EntityManager } from 'typeorm';
import { inChunks } from '../../database/in-chunks';
import type { UnitOfWork } from '../../database/unit-of-work';
import { TenantryDept } from '../../dept/dept.entity';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantBound } from '../../tenancy/tenant-bound';

const COLUMNS = ['deptId', 'ancestors', 'status'] as const;

/** A department that a grant names. */
export type GrantedDept = Pick<TenantryDept, (typeof COLUMNS)[number]>;

/** Of these departments the live ones; of a manager, read in a unit of work that locks their tree. */
export function findGrantedDepts(
  source: EntityManager | UnitOfWork,
  ctx: RequestContext,
  deptIds: readonly number[],
): Promise<GrantedDept[]> {
  const depts = new TenantBound(source, TenantryDept, ctx);
  return inChunks([...new Set(deptIds)], (chunk) =>
    depts.pick({ deptId: In([...chunk]), delFlag: '0' }, COLUMNS, { index: 'PRIMARY' }),
  );
}
