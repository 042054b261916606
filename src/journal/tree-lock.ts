import { tableName } from '../database/columns';
import { raisedTo } from '../database/dialect';
import { dialectOf } from '../database/dialects';
import type { OpenUnit } from '../database/open-unit';
import { runPrepared } from '../database/sql-statement';
import { dataSourceOf } from '../database/tenantry.data-source';
import type { RequestContext } from '../tenancy/request-context';
import { goneTenant } from '../tenancy/tenant-access';
import { ChangeLog } from './change-log';

/**
 * The first statement of every structural write to a tenant's data. One server locks the row by it; on a
 * cluster, where locks do not cross nodes, it is what two concurrent writes collide on. A unit raises a version once.
 */
export async function raiseTreeVersion(
  unit: OpenUnit,
  tenantId: string,
  callerTenantId = tenantId,
): Promise<void> {
  const { manager } = unit;
  const { versions } = unit.part(ChangeLog);
  // The unit itself may have deleted the tenant since.
  if (versions.has(tenantId)) return requireTenant(unit, tenantId, callerTenantId);
  const { table, live, dialect } = tenantTable(unit);
  const { set, end } = dialect.raise('tree_ver');
  const raise = `UPDATE ${table} SET ${set} WHERE ${live}${end}`;
  const version = raisedTo(await runPrepared(manager, raise, [tenantId]));
  if (version === null) throw goneTenant(tenantId, callerTenantId);
  versions.set(tenantId, version);
}

async function requireTenant(unit: OpenUnit, tenantId: string, callerTenantId: string): Promise<void> {
  const { table, live } = tenantTable(unit);
  const { rows } = await runPrepared(unit.manager, `SELECT 1 AS one FROM ${table} WHERE ${live}`, [tenantId]);
  if (rows.length === 0) throw goneTenant(tenantId, callerTenantId);
}

function tenantTable({ manager }: OpenUnit) {
  const dataSource = dataSourceOf(manager);
  const dialect = dialectOf(dataSource);
  const live = `tenant_id = ${dialect.place(1)} AND del_flag = '0'`;
  return { table: tableName(dataSource, 'tenantry_tenant'), live, dialect };
}

/** What a unit begins with that needs the tenant to be there, and waits for no other. */
export function tenantCheck({ tenantId, callerTenantId }: RequestContext) {
  return (unit: OpenUnit): Promise<void> => requireTenant(unit, tenantId, callerTenantId);
}

/** What every unit that writes to a tenant begins with. */
export function treeLock({ tenantId, callerTenantId }: RequestContext) {
  return (unit: OpenUnit): Promise<void> => raiseTreeVersion(unit, tenantId, callerTenantId);
}
