import type { DataSource } from 'typeorm';

const TABLES = ['tenantry_dept', 'tenantry_dept_name'] as const;
/** The key to the tenant needs an index that begins with it. */
const KEPT = ['PRIMARY', 'ix_dept_order'];

/** Fills the tables of departments without most of their indexes and makes these afterwards: it takes half the time. */
export async function fillQuickly<T>(dataSource: DataSource, fill: () => Promise<T>): Promise<T> {
  const indexes = await dataSource.query<{ on: string; name: string; columns: string }[]>(
    `SELECT table_name AS \`on\`, index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns
       FROM information_schema.statistics
      WHERE table_schema = DATABASE() AND table_name IN (?) AND index_name NOT IN (?) GROUP BY 1, 2`,
    [TABLES, KEPT],
  );
  const alter = async (change: (index: (typeof indexes)[number]) => string): Promise<void> => {
    for (const table of TABLES) {
      const changes = indexes.filter(({ on }) => on === table).map(change);
      if (changes.length > 0) await dataSource.query(`ALTER TABLE ${table} ${changes.join(', ')}`);
    }
  };
  await alter(({ name }) => `DROP INDEX ${name}`);
  const filled = await fill();
  await alter(({ name, columns }) => `ADD INDEX ${name} (${columns})`);
  await dataSource.query(`ANALYZE TABLE ${TABLES.join(', ')}`);
  return filled;
}
