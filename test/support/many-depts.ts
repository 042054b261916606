import type { DataSource } from 'typeorm';

const NAME = `LOWER(CONV(s.seq + 100000, 10, 36))`;

/**
 * Fills a tenant with departments inside MariaDB: a hundred at the top, with the rest two levels below them; every third
 * has a leader, every hundredth is disabled, each name holds 部 and a number of its own.
 */
export async function fillWithDepts(
  dataSource: DataSource,
  tenantId: string,
  count: number,
): Promise<number> {
  const [last] = await dataSource.query<{ last: string | null }[]>(
    'SELECT MAX(dept_id) AS last FROM tenantry_dept',
  );
  const base = Number(last?.last ?? 0);
  const middle = Math.max(200, Math.floor(count / 100));
  const parent = `CASE WHEN s.seq <= 100 THEN 0 WHEN s.seq <= ${middle} THEN ${base + 1} + s.seq % 100
                       ELSE ${base + 101} + s.seq % ${middle - 100} END`;
  const topOf = (expression: string) => `${base + 1} + (${expression} - ${base}) % 100`;
  await dataSource.query(
    `INSERT INTO tenantry_dept (dept_id, tenant_id, parent_id, ancestors, depth, dept_name, order_num, leader, status,
       del_flag, create_by, create_time, update_by)
     SELECT ${base} + s.seq, ?, ${parent},
       CASE WHEN s.seq <= 100 THEN '0' WHEN s.seq <= ${middle} THEN CONCAT('0,', ${parent})
            ELSE CONCAT('0,', ${topOf(parent)}, ',', ${parent}) END,
       CASE WHEN s.seq <= 100 THEN 1 WHEN s.seq <= ${middle} THEN 2 ELSE 3 END,
       CONCAT('部', ${NAME}), (s.seq * 7919) % 1000,
       IF(s.seq % 3 = 0, CONCAT('leader ', s.seq % 30), NULL), IF(s.seq % 100 = 0, '1', '0'),
       '0', 'seed', NOW(3), '' FROM seq_1_to_${count} s`,
    [tenantId],
  );
  return base;
}
