import type { DataSource } from 'typeorm';
import { DeptEntity } from '../../src/dept/dept.entity';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/user/account.entity';
import type { ApiClient } from './api-client';

let nextTenant = 100_000;

/** State and audit columns of a live row. */
export function life(): Pick<DeptEntity, 'status' | 'delFlag' | 'createBy' | 'createTime' | 'updateBy'> {
  return { status: '0', delFlag: '0', createBy: 'seed', createTime: new Date(), updateBy: '' };
}

/** A live tenant of its own for a test; gives its code. */
export async function aTenant(dataSource: DataSource, values: Partial<TenantEntity> = {}): Promise<string> {
  const tenantId = String((nextTenant += 1));
  const row = {
    id: tenantId,
    tenantId,
    tenantName: `tenant ${tenantId}`,
    treeVersion: '0',
    ...life(),
    ...values,
  };
  await dataSource.manager.insert(TenantEntity, row);
  return tenantId;
}

/** An account in a department. */
export async function anAccount(
  dataSource: DataSource,
  values: Pick<AccountEntity, 'tenantId' | 'deptId'>,
): Promise<void> {
  const username = `user-${Math.random().toString(36).slice(2)}`;
  const row = { username, passwordHash: '-', roles: 'member', ...life(), ...values };
  await dataSource.manager.insert(AccountEntity, row);
}

/** Makes a department through the door; gives its id. */
export async function aDept(api: ApiClient, body: Record<string, unknown> = {}): Promise<number> {
  const answer = await api.post('/system/dept-api', body);
  if (answer.status !== 200) throw new Error(`No department was made: ${answer.text}`);
  return Number(/\/(\d+)$/.exec(answer.headers.location ?? '')?.[1]);
}

/** The stored row, deleted or not. */
export function deptRow(dataSource: DataSource, deptId: number): Promise<DeptEntity | null> {
  return dataSource.manager.findOneBy(DeptEntity, { deptId });
}
