/** The path rules of a tree kept by ancestor paths. Pure: no database, no request. */

/** Parent id of a top-level node, and the first id of every path. */
export const ROOT_ID = 0;
export const MAX_DEPTH = 64;

/** Where a node stands. */
export interface Place {
  readonly parentId: number;
  /** Comma-separated ids from the root down to the parent. */
  readonly ancestors: string;
  /** 1 at top level. */
  readonly depth: number;
}

export interface TreeNode extends Place {
  readonly deptId: number;
}

export const TOP_LEVEL: Place = Object.freeze({ parentId: ROOT_ID, ancestors: String(ROOT_ID), depth: 1 });

/** The `ancestors` of a node's children. */
export function pathBelow(node: TreeNode): string {
  return `${node.ancestors},${node.deptId}`;
}

export function placeUnder(parent: TreeNode): Place {
  return { parentId: parent.deptId, ancestors: pathBelow(parent), depth: parent.depth + 1 };
}

/** Whether `node` is `top` or stands below it. */
export function isWithin(top: TreeNode, node: TreeNode): boolean {
  const path = pathBelow(top);
  return node.deptId === top.deptId || node.ancestors === path || node.ancestors.startsWith(`${path},`);
}

/**
 * The paths of all descendants, as a half-open range of texts: in ASCII `-` comes right after `,`, and no
 * digit lies between, so the range holds `path` itself and all that begins with `path,` - nothing else.
 */
export function descendantPaths(node: TreeNode): { readonly from: string; readonly before: string } {
  const path = pathBelow(node);
  return { from: path, before: `${path}-` };
}
