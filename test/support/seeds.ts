import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { SqlStatement } from '../../src/database/sql-statement';
import { TenantryDept } from '../../src/dept/dept.entity';
import { CONTRACT_QUOTAS, type ContractQuota } from '../../src/tenant/quota/quota-kinds';
import { TenantryQuota } from '../../src/tenant/quota/quota.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { onPostgres } from './test-database';

/** Seven digits: the service draws codes of six. */
let nextTenant = 1_000_000;

/** State and audit columns of a live row. */
export function life(): Pick<TenantryDept, 'status' | 'delFlag' | 'createBy' | 'createTime' | 'updateBy'> {
  return { status: '0', delFlag: '0', createBy: 'seed', createTime: new Date(), updateBy: '' };
}

const QUOTAS = [...CONTRACT_QUOTAS, 'riskReportUsed', 'zr', 'credit', 'pf'];
const NO_QUOTAS = Object.fromEntries(QUOTAS.map((name) => [name, 0])) as unknown as TenantryTenant['quota'];

/** Puts many rows in with one statement, and reads nothing back. TypeORM's own builder is slow at it. */
export async function bulkInsert<E extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<E>,
  rows: readonly Partial<E>[],
): Promise<void> {
  const metadata = dataSource.getMetadata(entity);
  const statement = new SqlStatement(metadata, '');
  const columns = metadata.columns.filter((column) => column.getEntityValue(rows[0]!) !== undefined);
  const names = columns.map(({ propertyPath }) => statement.name(propertyPath));
  const lines = rows.map((row) => {
    const places = columns.map((column) => statement.place(column, column.getEntityValue(row)));
    return `(${places.join(', ')})`;
  });
  const sql = `INSERT INTO ${statement.table} (${names.join(', ')}) VALUES ${lines.join(', ')}`;
  await dataSource.query(sql, statement.values);
  // SQLite answers at once; connections that rest meanwhile must have their turn to be closed.
  await yieldToEventLoop();
}

/** Puts this many live departments into the database. */
export async function deptRows(
  dataSource: DataSource,
  count: number,
  rowOf: (n: number) => Partial<TenantryDept>,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    deptName: '',
    orderNum: 0,
    ...life(),
    ...rowOf(n),
  }));
  for (let start = 0; start < count; start += 1000) {
    await bulkInsert(dataSource, TenantryDept, rows.slice(start, start + 1000));
  }
  // As autovacuum does within a minute: without statistics, plans for many rows are wrong.
  if (onPostgres) await dataSource.query('ANALYZE tenantry_dept');
}

/** A live tenant of its own for a test, right below the platform; gives its code. */
export async function aTenantRow(
  dataSource: DataSource,
  values: Partial<TenantryTenant> = {},
): Promise<string> {
  const tenantId = String((nextTenant += 1));
  const place = { tenantParent: '000000', ancestors: '0,000000', depth: 2 };
  const own = { id: tenantId, tenantId, tenantName: `tenant ${tenantId}`, accountCount: -1, menuIds: '' };
  const row = { ...own, ...place, ...life(), quota: NO_QUOTAS, treeVersion: '0', ...values };
  await dataSource.manager.insert(TenantryTenant, row);
  const unused = { tenantId, used: 0, reserved: 0, lastSeq: 0 };
  const counters = CONTRACT_QUOTAS.map((kind) => ({ kind, total: row.quota[kind], ...unused }));
  await bulkInsert(dataSource, TenantryQuota, counters);
  return tenantId;
}

/** The same, with so much of each of these kinds of quota. */
export function aTenantWith(
  dataSource: DataSource,
  totals: Partial<Record<ContractQuota, number>>,
  values: Partial<TenantryTenant> = {},
): Promise<string> {
  return aTenantRow(dataSource, { ...values, quota: Object.assign({}, NO_QUOTAS, totals) });
}

/** An account in a department. */
export async function anAccount(
  dataSource: DataSource,
  values: Pick<AccountEntity, 'tenantId' | 'deptId'>,
): Promise<void> {
  const username = `user-${Math.random().toString(36).slice(2)}`;
  const row = { username, nameKey: 0, passwordHash: '-', roles: 'member' };
  await dataSource.manager.insert(AccountEntity, { ...row, ...life(), ...values });
}

/** The stored row, deleted or not. */
export function deptRow(dataSource: DataSource, deptId: number): Promise<TenantryDept | null> {
  return dataSource.manager.findOneBy(TenantryDept, { deptId });
}
