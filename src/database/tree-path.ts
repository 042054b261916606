/** The rules of a tree that is kept by ancestor paths (materialized paths). Pure: no database, no request. */

export const MAX_DEPTH = 64;

export interface Place {
  /** Comma-separated keys from the root down to the parent. */
  readonly ancestors: string;
  /** The number of keys in `ancestors`: 1 right below the root. */
  readonly depth: number;
}

export interface TreeNode extends Place {
  /** What stands for the node in the paths below it: digits only. */
  readonly key: number | string;
}

/** Right below a root that is no node itself. */
export const TOP_LEVEL: Place = Object.freeze({ ancestors: '0', depth: 1 });

export function pathBelow(node: Pick<TreeNode, 'key' | 'ancestors'>): string {
  return `${node.ancestors},${node.key}`;
}

export function placeUnder(parent: TreeNode): Place {
  return { ancestors: pathBelow(parent), depth: parent.depth + 1 };
}

/** Whether `node` is `top` or stands below it. */
export function isWithin(top: TreeNode, node: TreeNode): boolean {
  const path = pathBelow(top);
  return node.key === top.key || node.ancestors === path || node.ancestors.startsWith(`${path},`);
}

/** Whether one of these nodes is above a node, as its path tells. */
export function isBelowAny(
  { ancestors }: Pick<TreeNode, 'ancestors'>,
  keys: readonly TreeNode['key'][],
): boolean {
  const above = new Set(ancestors.split(','));
  return keys.some((key) => above.has(String(key)));
}

/**
 * The paths of all descendants, as a half-open range of texts: in ASCII `-` comes right after `,`, and no
 * digit lies between, so the range holds `path` itself and all that begins with `path,` - nothing else.
 */
export function descendantPaths(node: TreeNode): { readonly from: string; readonly before: string } {
  const path = pathBelow(node);
  return { from: path, before: `${path}-` };
}
