import { And, LessThan, MoreThanOrEqual, type FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { RAISED } from './audited';
import type { ScopedTable } from './scoped-table';
import { descendantPaths, pathBelow, type Place, type TreeNode } from './tree-path';

/** A row that is a node of a tree, deleted or not. */
export interface TreeRow extends TreeNode {
  readonly delFlag: string;
}

/** What every tree does with its table, whatever its nodes are. Use it only while the tree is held. */
export class TreeTable<E extends TreeRow> {
  constructor(private readonly table: ScopedTable<E>) {}

  async findDeepest(node: E): Promise<number> {
    // Counted in the paths, which the index of the subtree holds: for the depths each row would have to be read.
    const depth = (path: string) => `LENGTH(${path}) - LENGTH(REPLACE(${path}, ',', '')) + 1`;
    return (await this.table.maximum('ancestors', depth, below(node))) ?? node.depth;
  }

  /** Rewrites the paths of all live nodes below `node`, or of `which` of all below it, in one statement, for its new place. */
  async moveDescendants(
    node: E,
    to: Place,
    which: FindOptionsWhere<E> = below(node),
    more: QueryDeepPartialEntity<E> = {},
  ): Promise<void> {
    const values = {
      // TRIM changes nothing: PostgreSQL must know that the value is a text.
      ancestors: () => 'CONCAT(TRIM(:newPath), SUBSTR(ancestors, :keepFrom))',
      depth: () => 'depth + :deeper',
      ...RAISED,
      ...more,
    } as unknown as QueryDeepPartialEntity<E>;
    await this.table.update(which, values, {
      newPath: pathBelow({ key: node.key, ...to }),
      keepFrom: pathBelow(node).length + 1,
      deeper: to.depth - node.depth,
    });
  }
}

/** All live nodes below this one: a range of the index on the path. */
export function below<E extends TreeRow>(node: TreeNode): FindOptionsWhere<E> {
  const { from, before } = descendantPaths(node);
  return { ancestors: And(MoreThanOrEqual(from), LessThan(before)), delFlag: '0' } as FindOptionsWhere<E>;
}
