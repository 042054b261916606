import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { PLATFORM_TENANT } from '../../../src/tenancy/tenant-code';

/** Every table that has rows of tenants, the tenants' own included. */
export function tablesOfTenants(dataSource: DataSource): string[] {
  return dataSource.entityMetadatas
    .filter((metadata) => metadata.findColumnWithPropertyName('tenantId'))
    .map(({ tableName }) => tableName);
}

/** A hash of all rows of each tenant in each table, by `<tenant> <table>`. */
export async function hashRows(dataSource: DataSource): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const table of tablesOfTenants(dataSource)) {
    const rows = await dataSource.query<Record<string, unknown>[]>(`SELECT * FROM ${table}`);
    const byTenant = new Map<string, string[]>();
    for (const row of rows) {
      // Every change of any tenant raises the platform's: it is their lock.
      const { tree_ver, ...rest } = row;
      const told = row.tenant_id === PLATFORM_TENANT ? rest : { ...rest, tree_ver };
      const key = `${String(row.tenant_id)} ${table}`;
      byTenant.set(key, [...(byTenant.get(key) ?? []), JSON.stringify(told)]);
    }
    for (const [key, texts] of byTenant) {
      hashes.set(key, createHash('sha256').update(texts.sort().join('\n')).digest('hex'));
    }
  }
  return hashes;
}
