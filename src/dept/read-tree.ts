import { MAX_DEPTH } from '../tree/tree-path';
import { ROOT_ID, type DeptEntity } from './dept.entity';
import { ancestorIds } from './ancestor-ids';
import type { DeptReader } from './dept-reader.repository';

/** One answer holds no more departments than this. */
export const MAX_NODES = 5000;

/** Which part of a tree is wanted. */
export interface TreeWish {
  /** How many levels, the top one included. */
  readonly depth?: number | undefined;
  readonly status?: string | undefined;
  /** A part of the name. */
  readonly name?: string | undefined;
}

/** A part of a tree: with every department all of its ancestors up to the top, so that it can be hung up. */
export interface TreePart {
  readonly nodes: DeptEntity[];
  /** Whether there are more than one answer holds. */
  readonly truncated: boolean;
  /** Whether every child of every node is here as well. */
  readonly complete: boolean;
}

/** Reads the tree below a root, the root included; or the whole one. */
export async function readTree(
  depts: DeptReader,
  root: DeptEntity | null,
  wish: TreeWish,
): Promise<TreePart> {
  if (wish.status !== undefined || wish.name !== undefined) return readMatches(depts, root, wish);
  if (wish.depth !== undefined) return readLevels(depts, root, wish.depth);
  const below = await depts.findBelow(root, MAX_NODES + 1);
  const nodes = root ? [root, ...below] : below;
  // Beyond the limit the upper levels are worth more than whatever comes first in the index.
  return nodes.length > MAX_NODES
    ? readLevels(depts, root, MAX_DEPTH)
    : { nodes, truncated: false, complete: true };
}

/** Level by level, so that what is left out is what is deepest. */
async function readLevels(depts: DeptReader, root: DeptEntity | null, levels: number): Promise<TreePart> {
  const nodes: DeptEntity[] = [];
  let level = root ? [root] : await depts.findChildren([ROOT_ID], MAX_NODES + 1);
  for (let depth = 1; level.length > 0; depth += 1) {
    nodes.push(...level);
    if (nodes.length > MAX_NODES)
      return { nodes: nodes.slice(0, MAX_NODES), truncated: true, complete: false };
    if (depth === levels) break;
    const parents = level.map(({ deptId }) => deptId);
    level = await depts.findChildren(parents, MAX_NODES + 1 - nodes.length);
  }
  return { nodes, truncated: false, complete: false };
}

/** The departments that match, each with the chain of its ancestors. */
async function readMatches(
  depts: DeptReader,
  root: DeptEntity | null,
  { depth, status, name }: TreeWish,
): Promise<TreePart> {
  const deepest = depth === undefined ? undefined : (root?.depth ?? 1) + depth - 1;
  const criteria = { below: root ?? undefined, status, name, deepest };
  const { rows: matches, hasMore } = await depts.findPage(criteria, null, MAX_NODES);
  if (root && matches.length === 0 && !passes(root, status, name)) {
    return { nodes: [], truncated: hasMore, complete: false };
  }
  const known = new Map([...(root ? [root] : []), ...matches].map((dept) => [dept.deptId, dept]));
  const kept = new Set<number>(root ? [root.deptId] : []);
  let truncated = hasMore;
  for (const match of matches) {
    const chain = [...ancestorIds(match, root), match.deptId].filter((id) => !kept.has(id));
    if (kept.size + chain.length > MAX_NODES) truncated = true;
    else for (const id of chain) kept.add(id);
  }
  const missing = await depts.findMany([...kept].filter((id) => !known.has(id)));
  const nodes = [...[...known.values()].filter(({ deptId }) => kept.has(deptId)), ...missing];
  return { nodes, truncated, complete: false };
}

function passes(dept: DeptEntity, status: string | undefined, name: string | undefined): boolean {
  return (
    (status === undefined || dept.status === status) && (name === undefined || dept.deptName.includes(name))
  );
}
