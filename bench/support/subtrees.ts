import type { DataSource } from 'typeorm';
import { aTenantRow } from '../../test/support/seeds';

/** A tenant with two departments at the top, and below the first of them one subtree of each size. */
export interface Subtrees {
  readonly tenantId: string;
  readonly tops: readonly [number, number];
  /** The head of each subtree, by the size of it. */
  readonly heads: ReadonlyMap<number, number>;
}

/** So many children a head has at most; the rest is one level lower. */
const MOST_CHILDREN = 100;

const COLUMNS = `dept_id, tenant_id, parent_id, ancestors, depth, dept_name, order_num, status, del_flag, create_by,
  create_time, update_by`;
const LIFE = "0, '0', '0', 'seed', NOW(3), ''";

export const HEAD_NAME = 'head';

export async function fillWithSubtrees(dataSource: DataSource, sizes: readonly number[]): Promise<Subtrees> {
  const tenantId = await aTenantRow(dataSource);
  const [last] = await dataSource.query<{ last: string | null }[]>(
    'SELECT MAX(dept_id) AS last FROM tenantry_dept',
  );
  // Ids of one length, so that a move changes the length of no path.
  let next = Math.max(1_000_000, Number(last?.last ?? 0)) + 1;
  const tops = [next, next + 1] as const;
  next += 2;
  const add = (rows: string) => dataSource.query(`INSERT INTO tenantry_dept (${COLUMNS}) ${rows}`);
  for (const top of tops) await add(`SELECT ${top}, '${tenantId}', 0, '0', 1, 'top', ${LIFE}`);
  const heads = new Map<number, number>();
  for (const size of sizes) {
    const head = next;
    const below = size - 1;
    const children = Math.min(MOST_CHILDREN, Math.ceil(Math.sqrt(below)));
    const path = `0,${tops[0]},${head}`;
    const parent = `${head + 1} + s.seq % ${children}`;
    await add(`SELECT ${head}, '${tenantId}', ${tops[0]}, '0,${tops[0]}', 2, '${HEAD_NAME}', ${LIFE}`);
    await add(`SELECT ${head} + s.seq, '${tenantId}', IF(s.seq <= ${children}, ${head}, ${parent}),
        IF(s.seq <= ${children}, '${path}', CONCAT('${path},', ${parent})), IF(s.seq <= ${children}, 3, 4),
        CONCAT('dept ', s.seq), ${LIFE} FROM seq_1_to_${below} s`);
    heads.set(size, head);
    next += size;
  }
  return { tenantId, tops, heads };
}
