import type { DataSource } from 'typeorm';

export function isPostgres({ options }: DataSource): boolean {
  return options.type === 'postgres';
}

/** The numbers from 1 on, as a table with the column `seq`. */
export function numbers(dataSource: DataSource, count: number, name: string): string {
  return isPostgres(dataSource)
    ? `generate_series(1, ${count}) AS ${name} (seq)`
    : `seq_1_to_${count} ${name}`;
}

export function secondsAgo(dataSource: DataSource, seconds: string): string {
  const interval = isPostgres(dataSource) ? `${seconds} * INTERVAL '1' SECOND` : `INTERVAL ${seconds} SECOND`;
  return `CURRENT_TIMESTAMP(3) - ${interval}`;
}

/** Lets the database count its rows. PostgreSQL must be told of ids that it did not make itself. */
export async function afterFilling(dataSource: DataSource): Promise<void> {
  if (!isPostgres(dataSource)) {
    await dataSource.query(
      'ANALYZE TABLE tenantry_dept, tenantry_tenant, tenantry_account, tenantry_session, tenantry_change',
    );
    return;
  }
  for (const [table, id] of Object.entries({ tenantry_dept: 'dept_id', tenantry_account: 'user_id' })) {
    const sequence = `pg_get_serial_sequence('${table}', '${id}')`;
    await dataSource.query(`SELECT setval(${sequence}, MAX(${id})) FROM ${table}`);
  }
  await vacuum(dataSource);
}

/** PostgreSQL keeps old versions of rows until then, and is slower by the work that was done before. */
export async function vacuum(dataSource: DataSource): Promise<void> {
  if (isPostgres(dataSource)) await dataSource.query('VACUUM ANALYZE');
}
