import type { EntityManager } from 'typeorm';
import type { Key } from '../tenancy/key-range.conditions';
import type { RequestContext } from '../tenancy/request-context';
import { descendantPaths, type TreeNode } from '../tree/tree-path';

/** More families than that are not worth a look at each. */
const MOST_FAMILIES = 200;
/** As many as the usual page and the one that tells whether there are more; for longer pages it is better to sort. */
const MOST_PLACES = 51;

const LIVE_OF_TENANT = `FROM tenantry_dept FORCE INDEX (ix_dept_subtree) WHERE tenant_id = ? AND del_flag = '0'`;
/**
 * Grouped by all columns that the index begins with, and sent as text: so MariaDB jumps from family to family. With fewer
 * columns, or prepared, it reads them all.
 */
const HEADS = `SELECT ancestors, MIN(order_num) AS orderNum ${LIVE_OF_TENANT} AND ancestors >= ? AND ancestors < ?
  GROUP BY tenant_id, del_flag, ancestors LIMIT ${MOST_FAMILIES + 1}`;
const PLACES = `SELECT order_num AS orderNum, dept_id AS deptId ${LIVE_OF_TENANT}`;
const IN_ORDER = 'ORDER BY order_num, dept_id LIMIT';

/** Departments with the same parent, by what they have in common; in the order of lists the first has this `orderNum`. */
interface Family {
  readonly ancestors: string;
  readonly orderNum: number;
}

/** A SELECT of places, with its parameters. */
type Part = readonly [sql: string, parameters: readonly (string | number)[]];

/**
 * The first places below a department in the order of lists, however many there are: what comes first of all is among what
 * comes first in some family, and each family stands in an index in this order. Null where that is not the shorter way:
 * with many families, for a long page, and on SQLite, which does not jump.
 */
export async function findFirstBelow(
  { dataSource }: EntityManager,
  { tenantId }: RequestContext,
  top: TreeNode,
  limit: number,
): Promise<Key[] | null> {
  if (limit > MOST_PLACES || dataSource.options.type === 'better-sqlite3') return null;
  const { from, before } = descendantPaths(top);
  const families = await dataSource.query<Family[]>(HEADS, [tenantId, from, before]);
  if (families.length === 0) return [];
  if (families.length > MOST_FAMILIES) return null;
  const parts = partsWithFirst(families, tenantId, limit);
  const sql = parts.map(([select]) => `(${select})`).join(' UNION ALL ');
  const places = await dataSource.query<{ orderNum: number; deptId: string | number }[]>(
    sql,
    parts.flatMap(([, parameters]) => parameters),
  );
  return places.map(({ orderNum, deptId }) => [orderNum, Number(deptId)]);
}

/** Where the first so many places are to be looked for. */
function partsWithFirst(families: readonly Family[], tenantId: string, limit: number): Part[] {
  const inOrder = families.toSorted((a, b) => a.orderNum - b.orderNum);
  // With so many families, nothing that comes after their heads is among the first.
  const last = inOrder[limit - 1]?.orderNum ?? Infinity;
  const whole = inOrder.filter(({ orderNum }) => orderNum < last);
  const tied = inOrder.filter(({ orderNum }) => orderNum === last).map(({ ancestors }) => ancestors);
  const parts = whole.map(({ ancestors }, nth): Part => {
    // As many heads as there are families before it come before all of its own.
    return [`${PLACES} AND ancestors = ? ${IN_ORDER} ${limit - nth}`, [tenantId, ancestors]];
  });
  if (tied.length === 0) return parts;
  const marks = tied.map(() => '?').join();
  const ofTied = `${PLACES} AND ancestors IN (${marks}) AND order_num = ? ${IN_ORDER} ${limit}`;
  return [...parts, [ofTied, [tenantId, ...tied, last]]];
}
