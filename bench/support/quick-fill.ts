import type { DataSource } from 'typeorm';

const TABLE = 'tenantry_dept';
/** The key to the tenant needs an index that begins with it. */
const KEPT = ['PRIMARY', 'ix_dept_order'];

/** Fills the table of departments without most of their indexes and makes these afterwards: it takes half the time. */
export async function fillQuickly<T>(dataSource: DataSource, fill: () => Promise<T>): Promise<T> {
  const indexes = await dataSource.query<{ name: string; columns: string }[]>(
    `SELECT index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns
       FROM information_schema.statistics
      WHERE table_schema = DATABASE() AND table_name = ? AND index_name NOT IN (?) GROUP BY 1`,
    [TABLE, KEPT],
  );
  const alter = async (change: (index: (typeof indexes)[number]) => string): Promise<void> => {
    await dataSource.query(`ALTER TABLE ${TABLE} ${indexes.map(change).join(', ')}`);
  };
  await alter(({ name }) => `DROP INDEX ${name}`);
  const filled = await fill();
  await alter(({ name, columns }) => `ADD INDEX ${name} (${columns})`);
  await dataSource.query(`ANALYZE TABLE ${TABLE}`);
  return filled;
}
