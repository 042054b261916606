import type { DataSource } from 'typeorm';
import { DeptEntity } from '../../src/dept/dept.entity';

/** Everything that is wrong with the department trees in the database, or with one tenant's; a sound database gives an empty list. */
export async function treeProblems(dataSource: DataSource, tenantId?: string): Promise<string[]> {
  const rows = await dataSource.manager.find(DeptEntity, {
    where: { delFlag: '0', ...(tenantId !== undefined && { tenantId }) },
  });
  const byId = new Map(rows.map((row) => [row.deptId, row]));
  return rows.flatMap((row) => {
    const chain: number[] = [];
    for (let at: DeptEntity = row; at.parentId !== 0;) {
      const parent = byId.get(at.parentId);
      if (!parent) return [`${row.deptId}: its ancestor ${at.parentId} is deleted or missing`];
      if (parent.tenantId !== row.tenantId)
        return [`${row.deptId}: its ancestor ${at.parentId} is another tenant's`];
      if (chain.includes(parent.deptId) || parent.deptId === row.deptId)
        return [`${row.deptId}: stands in a cycle`];
      chain.unshift(parent.deptId);
      at = parent;
    }
    const expected = [0, ...chain].join(',');
    return [
      ...(row.ancestors === expected ? [] : [`${row.deptId}: path ${row.ancestors}, should be ${expected}`]),
      ...(row.depth === chain.length + 1
        ? []
        : [`${row.deptId}: depth ${row.depth}, should be ${chain.length + 1}`]),
    ];
  });
}
