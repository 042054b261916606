type Key = number | string;

export interface StoredNode {
  readonly key: Key;
  readonly parent: Key | null;
  readonly ancestors: string;
  readonly depth: number;
}

export interface TreeReport {
  /** Nodes that have no way up to the root: a parent on it is deleted or missing. */
  readonly orphans: Key[];
  readonly cycles: Key[];
  /** As they should be. */
  readonly wrongPaths: Omit<StoredNode, 'parent'>[];
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

function chainAbove(node: StoredNode, byKey: ReadonlyMap<Key, StoredNode>): Key[] | 'orphan' | 'cycle' {
  const chain: Key[] = [];
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
