import type { DataSource } from 'typeorm';
import { DeptEntity } from '../../src/dept/dept.entity';
import { TenantEntity } from '../../src/tenant/tenant.entity';

interface Node {
  readonly key: number | string;
  readonly parent: number | string | null;
  readonly ancestors: string;
  readonly depth: number;
  readonly owner: string;
}

/** Everything that is wrong with the department trees in the database, or with one tenant's; a sound one gives none. */
export async function treeProblems(dataSource: DataSource, tenantId?: string): Promise<string[]> {
  const where = { delFlag: '0', ...(tenantId !== undefined && { tenantId }) };
  const rows = await dataSource.manager.find(DeptEntity, { where });
  return problemsOf(
    rows.map((row) => ({
      ...pathOf(row),
      parent: row.parentId === 0 ? null : row.parentId,
      owner: row.tenantId,
    })),
  );
}

/** Everything that is wrong with the tree of tenants. */
export async function tenantTreeProblems(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.manager.find(TenantEntity, { where: { delFlag: '0' } });
  const roots = rows.filter(({ tenantParent }) => tenantParent === null).map((row) => row.tenantId);
  return [
    ...(roots.join() === '000000' ? [] : [`the roots are ${roots.join()}`]),
    ...problemsOf(rows.map((row) => ({ ...pathOf(row), parent: row.tenantParent, owner: '' }))),
  ];
}

function pathOf({
  key,
  ancestors,
  depth,
}: DeptEntity | TenantEntity): Pick<Node, 'key' | 'ancestors' | 'depth'> {
  return { key, ancestors, depth };
}

function problemsOf(nodes: Node[]): string[] {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  return nodes.flatMap((node) => {
    const chain: (number | string)[] = [];
    for (let at = node; at.parent !== null;) {
      const parent = byKey.get(at.parent);
      if (!parent) return [`${node.key}: its ancestor ${at.parent} is deleted or missing`];
      if (parent.owner !== node.owner) return [`${node.key}: its ancestor ${at.parent} is another tenant's`];
      if (chain.includes(parent.key) || parent.key === node.key) return [`${node.key}: stands in a cycle`];
      chain.unshift(parent.key);
      at = parent;
    }
    const expected = [0, ...chain].join(',');
    return [
      ...(node.ancestors === expected ? [] : [`${node.key}: path ${node.ancestors}, should be ${expected}`]),
      ...(node.depth === chain.length + 1
        ? []
        : [`${node.key}: depth ${node.depth}, not ${chain.length + 1}`]),
    ];
  });
}
