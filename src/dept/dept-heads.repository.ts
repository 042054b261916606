import type { DataSource, EntityManager } from 'typeorm';
import type { RequestContext } from '../tenancy/request-context';
import { descendantPaths, type TreeNode } from '../tree/tree-path';

/** More families than that are not worth a look at each. */
const MOST_FAMILIES = 200;
/** As many as the usual page and the one that tells whether there are more; for longer pages it is better to sort. */
const MOST_PLACES = 51;

/** Up to so many, each of the families that tie is looked at; it costs as much to find out which of more come first. */
const FEW_TIED = 12;

const LIVE_OF_TENANT = `FROM tenantry_dept FORCE INDEX (ix_dept_subtree) WHERE tenant_id = ? AND del_flag = '0'`;
const BELOW = 'AND ancestors >= ? AND ancestors < ?';
/**
 * Grouped by all columns that the index begins with, and sent as text: so MariaDB jumps from family to family. With fewer
 * columns, or prepared, it reads them all.
 */
const BY_FAMILY = 'GROUP BY tenant_id, del_flag, ancestors';
const HEADS = `SELECT ancestors, MIN(order_num) AS orderNum ${LIVE_OF_TENANT} ${BELOW} ${BY_FAMILY} LIMIT ${MOST_FAMILIES + 1}`;
/** The families with the first ids at one `orderNum`. */
const FIRST_AT = `SELECT ancestors, MIN(dept_id) AS first ${LIVE_OF_TENANT} ${BELOW} AND order_num = ? ${BY_FAMILY}
  ORDER BY first LIMIT`;
const PLACES = `SELECT order_num AS orderNum, dept_id AS deptId ${LIVE_OF_TENANT}`;
const IN_ORDER = 'ORDER BY order_num, dept_id LIMIT';

/** Departments with the same parent, by what they have in common; in the order of lists the first has this `orderNum`. */
interface Family {
  readonly ancestors: string;
  readonly orderNum: number;
}

/** Where a department stands in the order of lists. */
type Place = [orderNum: number, deptId: number];

/** A SELECT of places, with its parameters. */
type Part = readonly [sql: string, parameters: readonly (string | number)[]];

/** A tenant, and the paths of what stands below a department: from the one on, and before the other. */
type Range = readonly [tenantId: string, from: string, before: string];

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
): Promise<Place[] | null> {
  if (limit > MOST_PLACES || dataSource.options.type === 'better-sqlite3') return null;
  const { from, before } = descendantPaths(top);
  const range = [tenantId, from, before] as const;
  const families = await dataSource.query<Family[]>(HEADS, [...range]);
  if (families.length > MOST_FAMILIES) return null;
  const inOrder = families.toSorted((a, b) => a.orderNum - b.orderNum);
  // With so many families, nothing that comes after their heads is among the first.
  const last = inOrder[limit - 1]?.orderNum ?? Infinity;
  const early = inOrder.filter(({ orderNum }) => orderNum < last);
  const found = await placesIn(dataSource, partsOfEach(early, tenantId, limit));
  const tied = inOrder.filter(({ orderNum }) => orderNum === last);
  const isEnough = found.filter(([orderNum]) => orderNum < last).length >= limit;
  if (tied.length === 0 || isEnough) return found;
  const ofTied = tied.length > FEW_TIED ? firstAt(last, range, limit) : firstOf(tied, last, tenantId, limit);
  // An early family may have places at this `orderNum` too, and they may have been found before.
  const all = new Map(
    [...found, ...(await placesIn(dataSource, [ofTied]))].map((place) => [place[1], place]),
  );
  // Each of so many families had one: somebody is taking them away.
  return all.size < limit ? null : [...all.values()];
}

async function placesIn(dataSource: DataSource, parts: readonly Part[]): Promise<Place[]> {
  if (parts.length === 0) return [];
  const rows = await dataSource.query<{ orderNum: number; deptId: string | number }[]>(
    parts.map(([select]) => `(${select})`).join(' UNION ALL '),
    parts.flatMap(([, parameters]) => parameters),
  );
  return rows.map(({ orderNum, deptId }) => [orderNum, Number(deptId)]);
}

/** The first of each of these families. */
function partsOfEach(families: readonly Family[], tenantId: string, limit: number): Part[] {
  return families.map(({ ancestors, orderNum }) => {
    // Heads that come before its own come before all of it; of those with the same `orderNum` nobody knows yet.
    const before = families.filter((other) => other.orderNum < orderNum).length;
    return [`${PLACES} AND ancestors = ? ${IN_ORDER} ${limit - before}`, [tenantId, ancestors]];
  });
}

/** The first of these families at one `orderNum`. */
function firstOf(families: readonly Family[], orderNum: number, tenantId: string, limit: number): Part {
  const marks = families.map(() => '?').join();
  const sql = `${PLACES} AND ancestors IN (${marks}) AND order_num = ? ${IN_ORDER} ${limit}`;
  return [sql, [tenantId, ...families.map(({ ancestors }) => ancestors), orderNum]];
}

/** The first of all families at one `orderNum`: they are in those whose own first ones come first. */
function firstAt(orderNum: number, range: Range, limit: number): Part {
  const sql = `SELECT dept.order_num AS orderNum, dept.dept_id AS deptId FROM (${FIRST_AT} ${limit}) family
    STRAIGHT_JOIN tenantry_dept dept FORCE INDEX (ix_dept_subtree) ON dept.tenant_id = ? AND dept.del_flag = '0'
      AND dept.ancestors = family.ancestors AND dept.order_num = ? ORDER BY dept.dept_id LIMIT ${limit}`;
  return [sql, [...range, orderNum, range[0], orderNum]];
}
