import type { EntityManager } from 'typeorm';
import { tableName } from '../database/columns';
import { dialectOf } from '../database/dialects';
import { padded, runPrepared } from '../database/sql-statement';
import { dataSourceOf } from '../database/tenantry.data-source';

/** A position in the journal of a tenant: the entries after it are those that a reader has not seen. */
export interface Position {
  readonly version: number;
  readonly seq: number;
}

/** The `seq` of a position after all entries of a version. */
export const LAST_SEQ = 2 ** 31 - 1;

/** The position after all entries of a version. */
export function endOf(version: number): Position {
  return { version, seq: LAST_SEQ };
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
