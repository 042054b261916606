/** A node as it is stored. */
export interface StoredNode {
  readonly key: number | string;
  /** Null right below the root. */
  readonly parent: number | string | null;
  readonly ancestors: string;
  readonly depth: number;
}

/** A path that does not follow from the parents. */
export interface WrongPath {
  readonly key: number | string;
  readonly ancestors: string;
  readonly depth: number;
}

export interface TreeReport {
  /** Nodes that have no way up to the root: a parent on it is deleted or missing. */
  readonly orphans: (number | string)[];
  /** Nodes that are their own ancestors. */
  readonly cycles: (number | string)[];
  /** Nodes with a wrong path or depth, with the right one. */
  readonly wrongPaths: WrongPath[];
}

/** Holds the paths of the live nodes of one tree against their parents. Pure. */
export function examineTree(nodes: readonly StoredNode[]): TreeReport {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const report: TreeReport = { orphans: [], cycles: [], wrongPaths: [] };
  for (const node of nodes) {
    const chain = chainAbove(node, byKey);
    if (chain === 'orphan') report.orphans.push(node.key);
    else if (chain === 'cycle') report.cycles.push(node.key);
    else {
      const right = { key: node.key, ancestors: ['0', ...chain].join(','), depth: chain.length + 1 };
      if (right.ancestors !== node.ancestors || right.depth !== node.depth) report.wrongPaths.push(right);
    }
  }
  return report;
}

/** Keys from the top down to the parent. */
function chainAbove(
  node: StoredNode,
  byKey: ReadonlyMap<number | string, StoredNode>,
): (number | string)[] | 'orphan' | 'cycle' {
  const chain: (number | string)[] = [];
  const seen = new Set([node.key]);
  for (let parent = node.parent; parent !== null;) {
    if (seen.has(parent)) return 'cycle';
    seen.add(parent);
    chain.unshift(parent);
    const above = byKey.get(parent);
    if (!above) return 'orphan';
    parent = above.parent;
  }
  return chain;
}
