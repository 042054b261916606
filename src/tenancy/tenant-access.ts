import type { EntityManager } from 'typeorm';
import { tableName } from '../database/columns';
import { raisedTo } from '../database/dialect';
import { dialectOf } from '../database/dialects';
import type { OpenUnit } from '../database/open-unit';
import { runPrepared } from '../database/prepared';
import { padded } from '../database/sql-statement';
import { dataSourceOf } from '../database/tenantry.data-source';
import type { Refusal } from '../errors/refusal';
import type { RequestContext } from './request-context';
import { TenantErrors } from './tenant.errors';

/** What is known of a tenant without a query per request. A port. */
export abstract class TenantAdmission {
  /**
   * Refuses by throwing when users of this tenant may not be served now. Gives the top-level tenant that it is or is below: all
   * tenants of that branch share limits.
   */
  abstract admit(tenantId: string): Promise<string>;
  /** The top-level tenant as far as it is remembered, or else the tenant itself: for fair shares, not for access. */
  abstract knownTopTenantOf(tenantId: string): string;
}

/** Which departments have users? A port: a host with accounts of its own answers from them. */
export abstract class UserDirectory {
  /**
   * Of these departments, at most 500, the ones that users belong to. It is asked inside the unit of work that is about to
   * delete them, several times when they are more; `manager` is that transaction.
   */
  abstract findOccupied(
    ctx: RequestContext,
    deptIds: readonly number[],
    manager: EntityManager,
  ): Promise<number[]>;
}

/** Why the users of a tenant are refused, by its state. */
export const NOT_SERVED = {
  DELETED: TenantErrors.DELETED,
  DISABLED: TenantErrors.DISABLED,
  NOT_STARTED: TenantErrors.NOT_STARTED,
  EXPIRED: TenantErrors.EXPIRED,
} as const;

/** A body may name the caller's own tenant, or none. */
export function refuseForeignTenant(ctx: RequestContext, tenantId: string | null | undefined): void {
  if (tenantId != null && tenantId !== ctx.tenantId) throw TenantErrors.MISMATCH();
}

/**
 * The first statement of every structural write to a tenant's data. One server locks the row by it; on a
 * cluster, where locks do not cross nodes, it is what two concurrent writes collide on. A unit raises a version once.
 */
export async function raiseTreeVersion(
  unit: OpenUnit,
  tenantId: string,
  callerTenantId = tenantId,
): Promise<void> {
  const { manager, versions } = unit;
  const dataSource = dataSourceOf(manager);
  const dialect = dialectOf(dataSource);
  const table = tableName(dataSource, 'tenantry_tenant');
  const live = `tenant_id = ${dialect.place(1)} AND del_flag = '0'`;
  if (versions.has(tenantId)) {
    // The unit itself may have deleted the tenant since.
    const { rows } = await runPrepared(manager, `SELECT 1 AS one FROM ${table} WHERE ${live}`, [tenantId]);
    if (rows.length === 0) throw goneTenant(tenantId, callerTenantId);
    return;
  }
  const { set, end } = dialect.raise('tree_ver');
  const raise = `UPDATE ${table} SET ${set} WHERE ${live}${end}`;
  const version = raisedTo(await runPrepared(manager, raise, [tenantId]));
  if (version === null) throw goneTenant(tenantId, callerTenantId);
  versions.set(tenantId, version);
}

/** What every unit that writes to a tenant begins with. */
export function treeLock({ tenantId, callerTenantId }: RequestContext) {
  return (unit: OpenUnit): Promise<void> => raiseTreeVersion(unit, tenantId, callerTenantId);
}

/** The refusal for a deleted tenant: a caller's own tenant is named as such, any other does not exist. */
export function goneTenant(tenantId: string, callerTenantId: string): Refusal {
  return tenantId === callerTenantId ? TenantErrors.DELETED() : TenantErrors.NOT_FOUND();
}

/** How far the journal of a tenant goes. */
export interface JournalState {
  /** Of the tenant's tree: all entries up to it are committed. */
  readonly version: number;
  /** Everything after this version is kept. */
  readonly keptFrom: number;
}

/** Of tenants that exist, deleted or not. */
export async function journalStates(
  manager: EntityManager,
  tenantIds: readonly string[],
): Promise<Map<string, JournalState>> {
  const dataSource = dataSourceOf(manager);
  const [tenants, changes] = ['tenantry_tenant', 'tenantry_change'].map((name) =>
    tableName(dataSource, name),
  );
  const places = padded(tenantIds).map((_, index) => dialectOf(dataSource).place(index + 1));
  const sql = `SELECT t.tenant_id AS code, t.tree_ver AS version, (SELECT c.prev FROM ${changes} c
    WHERE c.tenant_id = t.tenant_id ORDER BY c.version, c.seq LIMIT 1) AS kept
    FROM ${tenants} t WHERE t.tenant_id IN (${places.join(', ')})`;
  const { rows } = await runPrepared(manager, sql, [...padded(tenantIds)]);
  const stateOf = ({ version, kept }: Record<string, unknown>) => ({
    version: Number(version),
    keptFrom: Number(kept ?? 0),
  });
  return new Map(rows.map((row) => [String(row.code), stateOf(row)]));
}
