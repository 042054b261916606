import type { ChangeKind } from '../journal/change-log';
import type { Journalled } from '../resource/journalled-rows.repository';
import { allResources } from '../resources';

/**
 * What is wrong when the statement gives rows; `subject` names them. One statement over all tenants sees one moment, so
 * what is being written meanwhile is no finding. A note is allowed, but worth knowing.
 */
export type Invariant = readonly [noun: string, wrong: string, sql: string, isNote?: 'note'];

const ENTRY = "CONCAT(c.tenant_id, ' ', c.version, '.', c.seq)";

/** Codes in a table that no tenant has, not even a deleted one. */
export const codesWithoutTenant = (table: string): string =>
  `SELECT c.tenant_id AS subject FROM (SELECT DISTINCT tenant_id FROM ${table}) c
    WHERE NOT EXISTS (SELECT 1 FROM tenantry_tenant t WHERE t.tenant_id = c.tenant_id)`;

const INVARIANTS: readonly Invariant[] = [
  [
    'tenant',
    'its code was used again',
    'SELECT tenant_id AS subject FROM tenantry_tenant GROUP BY tenant_id HAVING COUNT(*) > 1',
  ],
  ['tenant', 'has departments but never existed', codesWithoutTenant('tenantry_dept')],
  ['tenant', 'has quotas but never existed', codesWithoutTenant('tenantry_quota')],
  [
    'tenant',
    'is deeper than 64 levels',
    "SELECT tenant_id AS subject FROM tenantry_tenant WHERE depth > 64 AND del_flag = '0'",
  ],
  [
    'department',
    'is deeper than 64 levels',
    "SELECT dept_id AS subject FROM tenantry_dept WHERE depth > 64 AND del_flag = '0'",
  ],
  [
    'journal entry',
    'does not follow the one before it',
    `SELECT ${ENTRY} AS subject FROM (
       SELECT tenant_id, version, seq, prev, LAG(version) OVER (PARTITION BY tenant_id ORDER BY version, seq) AS last_version,
              LAG(seq) OVER (PARTITION BY tenant_id ORDER BY version, seq) AS last_seq FROM tenantry_change) c
      WHERE c.last_version IS NOT NULL AND NOT (
            c.version = c.last_version AND c.seq = c.last_seq + 1 AND c.prev = c.version
         OR c.version > c.last_version AND c.seq = 0 AND c.prev = c.last_version)`,
  ],
  [
    'journal entry',
    'has a version that its tenant has not reached',
    `SELECT ${ENTRY} AS subject FROM tenantry_change c JOIN tenantry_tenant t ON t.tenant_id = c.tenant_id
      WHERE c.version > t.tree_ver`,
  ],
];

/** What a doctor examines beside the trees and the quotas. */
export interface Examined {
  /** Their rows must be as their last entries in the journal say. */
  readonly resources: readonly Journalled[];
  readonly invariants: readonly Invariant[];
}

/** Of every database, a host's too. */
export const LIBRARY: Examined = {
  resources: allResources.flatMap(({ journal = [] }) => journal),
  invariants: INVARIANTS,
};

/** All of them in one statement: it gives the number of the invariant as `broken`, and `subject`. */
export function allOf(invariants: readonly Invariant[]): string {
  // Ids and codes: in one column they are texts.
  const select = ([, , sql]: Invariant, index: number) =>
    `SELECT ${index} AS broken, CONCAT(i${index}.subject, '') AS subject FROM (${sql}) i${index}`;
  return invariants.map(select).join(' UNION ALL ');
}

export const ROOTS = `SELECT tenant_id AS subject FROM tenantry_tenant WHERE tenant_parent IS NULL AND del_flag = '0'
  ORDER BY tenant_id`;

/**
 * Whether every live node stands where its live parent says. That is enough for the whole tree: when each is one deeper
 * than its parent, no node is its own ancestor, and right paths above make right paths below.
 */
export const ODD_TENANTS = `
  SELECT t.tenant_id AS subject FROM tenantry_tenant t
    LEFT JOIN tenantry_tenant p ON p.tenant_id = t.tenant_parent AND p.del_flag = '0'
   WHERE t.del_flag = '0' AND CASE
         WHEN t.tenant_parent IS NULL THEN t.ancestors <> '0' OR t.depth <> 1
         WHEN p.tenant_id IS NULL THEN 1 = 1
         ELSE t.ancestors <> CONCAT(p.ancestors, ',', p.tenant_id) OR t.depth <> p.depth + 1 END
   LIMIT 1`;

export const TENANTS_OF_ODD_DEPTS = `
  SELECT DISTINCT d.tenant_id AS subject FROM tenantry_dept d
    LEFT JOIN tenantry_dept p ON p.dept_id = d.parent_id AND p.tenant_id = d.tenant_id AND p.del_flag = '0'
   WHERE d.del_flag = '0' AND CASE
         WHEN d.parent_id = 0 THEN d.ancestors <> '0' OR d.depth <> 1
         WHEN p.dept_id IS NULL THEN 1 = 1
         ELSE d.ancestors <> CONCAT(p.ancestors, ',', p.dept_id) OR d.depth <> p.depth + 1 END`;

/** The last entries of the resources after one of them, in the order of these columns. */
export const LAST_ENTRY_ORDER = ['c.tenant_id', 'c.kind', 'c.resource_id'];
export const lastEntriesAfter = (condition: string, kinds: readonly ChangeKind[]): string =>
  `SELECT c.tenant_id AS "tenantId", c.kind AS kind, c.resource_id AS "resourceId", c.version AS version, c.seq AS seq,
    c.operation AS operation, c.fields AS fields FROM tenantry_change c
  WHERE c.kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')}) AND NOT EXISTS (SELECT 1 FROM tenantry_change n
    WHERE n.tenant_id = c.tenant_id AND n.kind = c.kind AND n.resource_id = c.resource_id
      AND (n.version > c.version OR n.version = c.version AND n.seq > c.seq))
  AND ${condition} ORDER BY ${LAST_ENTRY_ORDER.join(', ')} LIMIT 1000`;
