import type { DataSource } from 'typeorm';
import { TenantryDept } from '../../src/dept/dept.entity';
import { examineTree, type StoredNode } from '../../src/database/examine-tree';
import { TenantryTenant } from '../../src/tenant/tenant.entity';

/** Everything that is wrong with the department trees in the database, or with one tenant's; a sound one gives none. */
export async function treeProblems(dataSource: DataSource, tenantId?: string): Promise<string[]> {
  const where = { delFlag: '0', ...(tenantId !== undefined && { tenantId }) };
  const rows = await dataSource.manager.find(TenantryDept, { where });
  const owners = [...new Set(rows.map((row) => row.tenantId))];
  const problems: string[] = [];
  for (const owner of owners) {
    const own = rows.filter((row) => row.tenantId === owner);
    const nodes = own.map(({ deptId: key, parentId, ancestors, depth }) => {
      return { key, parent: parentId === 0 ? null : parentId, ancestors, depth };
    });
    problems.push(...(await problemsOf(nodes)));
  }
  return problems;
}

/** Everything that is wrong with the tree of tenants. */
export async function tenantTreeProblems(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.manager.find(TenantryTenant, { where: { delFlag: '0' } });
  const roots = rows.filter(({ tenantParent }) => tenantParent === null).map((row) => row.tenantId);
  const nodes = rows.map(({ tenantId: key, tenantParent: parent, ancestors, depth }) => {
    return { key, parent, ancestors, depth };
  });
  return [
    ...(roots.join() === '000000' ? [] : [`the roots are ${roots.join()}`]),
    ...(await problemsOf(nodes)),
  ];
}

async function problemsOf(nodes: readonly StoredNode[]): Promise<string[]> {
  const { orphans, cycles, wrongPaths } = await examineTree(nodes);
  return [
    ...orphans.map((key) => `${key}: an ancestor is deleted, missing or another tenant's`),
    ...cycles.map((key) => `${key}: stands in a cycle`),
    ...wrongPaths.map(({ key, ancestors, depth }) => `${key}: should be at ${ancestors}, depth ${depth}`),
  ];
}
