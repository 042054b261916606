import type { EntityManager } from 'typeorm';
import { readPrepared, type Parameter } from '../database/prepared';
import type { Key } from '../tenancy/key-range.conditions';
import type { RequestContext } from '../tenancy/request-context';
import { descendantPaths, type TreeNode } from '../tree/tree-path';

/** More families than that are not worth a look at each. */
const MOST_FAMILIES = 200;
/** As many as the usual page and the one that tells whether there are more; for longer pages it is better to sort. */
const MOST_PLACES = 51;

const LIVE_OF_TENANT = `FROM tenantry_dept FORCE INDEX (ix_dept_subtree) WHERE tenant_id = ? AND del_flag = '0'`;
/** Grouped by all columns that the index begins with: so MariaDB jumps from family to family instead of reading them. */
const HEADS = `SELECT ancestors, MIN(order_num) AS orderNum ${LIVE_OF_TENANT} AND ancestors >= ? AND ancestors < ?
  GROUP BY tenant_id, del_flag, ancestors LIMIT ${MOST_FAMILIES + 1}`;
const FIRST_ID = `SELECT ancestors, MIN(dept_id) AS deptId ${LIVE_OF_TENANT} AND order_num = ? AND ancestors IN`;
const FIRST_OF_FAMILY = `SELECT order_num AS orderNum, dept_id AS deptId ${LIVE_OF_TENANT} AND ancestors = ?
  ORDER BY order_num, dept_id LIMIT`;

/** Departments with the same parent, by what they have in common; in the order of lists the first has this `orderNum`. */
interface Family {
  readonly ancestors: string;
  readonly orderNum: number;
}

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
  const families = (await readPrepared(dataSource, HEADS, [
    tenantId,
    from,
    before,
  ])) as readonly unknown[] as readonly Family[];
  if (families.length > MOST_FAMILIES) return null;
  const read = (sql: string, parameters: Parameter[]) =>
    dataSource.query<{ readonly ancestors: string; readonly orderNum: number; readonly deptId: string }[]>(
      sql,
      parameters,
    );

  const inOrder = families.toSorted((a, b) => a.orderNum - b.orderNum);
  const tie = inOrder[limit - 1]?.orderNum;
  if (inOrder.length > limit && tie === inOrder[limit]?.orderNum) {
    const tied = inOrder.filter(({ orderNum }) => orderNum === tie).map(({ ancestors }) => ancestors);
    const marks = tied.map(() => '?').join();
    const rows = await read(`${FIRST_ID} (${marks}) GROUP BY ancestors`, [tenantId, tie ?? 0, ...tied]);
    const idOf = new Map(rows.map(({ ancestors, deptId }) => [ancestors, Number(deptId)]));
    inOrder.sort(
      (a, b) => a.orderNum - b.orderNum || (idOf.get(a.ancestors) ?? 0) - (idOf.get(b.ancestors) ?? 0),
    );
  }

  // So many families come before the nth that all but so many of its own cannot be among the first.
  const parts = inOrder.slice(0, limit).map(({ ancestors }, nth) => ({ ancestors, most: limit - nth }));
  if (parts.length === 0) return [];
  const sql = parts.map(({ most }) => `(${FIRST_OF_FAMILY} ${most})`).join(' UNION ALL ');
  const rows = await read(
    sql,
    parts.flatMap(({ ancestors }) => [tenantId, ancestors]),
  );
  return rows.map(({ orderNum, deptId }) => [orderNum, Number(deptId)]);
}
