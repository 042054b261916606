import { MAX_DEPTH } from '../tree/tree-path';
import { ROOT_ID, type DeptEntity, type DeptRow } from './dept.entity';
import { ancestorIds } from './ancestor-ids';
import type { Page } from '../web/page';
import type { DeptCriteria } from './dept.conditions';
import type { DeptReader } from './dept-reader.repository';

/** One answer holds no more departments than this. */
const MAX_NODES = 5000;
/** A search for matches that are so rare gives up, and says that it has. */
const MOST_PAGES = 8;

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
  readonly nodes: DeptRow[];
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
  const nodes: DeptRow[] = [];
  let level: DeptRow[] = root ? [root] : await depts.findChildren([ROOT_ID], MAX_NODES + 1);
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
  { depth, ...wish }: TreeWish,
): Promise<TreePart> {
  // Few levels that are known as a whole need no search.
  const levels = depth === undefined ? null : await readLevels(depts, root, depth);
  if (levels && !levels.truncated) {
    const matches = levels.nodes.filter((dept) => passes(dept, wish));
    return hangUp(depts, root, { matches, truncated: false });
  }
  const deepest = depth === undefined ? undefined : (root?.depth ?? 1) + depth - 1;
  const below = await findMatches(depts, { below: root ?? undefined, ...wish, deepest });
  const matches = root && passes(root, wish) ? [root, ...below.matches] : below.matches;
  return hangUp(depts, root, { ...below, matches });
}

interface Matches {
  readonly matches: DeptRow[];
  readonly truncated: boolean;
}

/** Page by page: where matches are rare, one page may not find all that an answer could hold. */
async function findMatches(depts: DeptReader, criteria: DeptCriteria): Promise<Matches> {
  const matches: DeptRow[] = [];
  let after: Page<DeptRow>['last'] = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found: Page<DeptRow> = await depts.findPage(criteria, after, MAX_NODES - matches.length);
    matches.push(...found.rows);
    if (!found.hasMore) return { matches, truncated: false };
    if (matches.length === MAX_NODES) break;
    after = found.last;
  }
  return { matches, truncated: true };
}

async function hangUp(depts: DeptReader, root: DeptEntity | null, found: Matches): Promise<TreePart> {
  const known = new Map<number, DeptRow>(
    [...(root ? [root] : []), ...found.matches].map((dept) => [dept.deptId, dept]),
  );
  const kept = new Set<number>(root && found.matches.length > 0 ? [root.deptId] : []);
  let { truncated } = found;
  for (const match of found.matches) {
    const chain = [...ancestorIds(match, root), match.deptId].filter((id) => !kept.has(id));
    if (kept.size + chain.length > MAX_NODES) truncated = true;
    else for (const id of chain) kept.add(id);
  }
  const missing = await depts.findMany([...kept].filter((id) => !known.has(id)));
  const nodes = [...[...known.values()].filter(({ deptId }) => kept.has(deptId)), ...missing];
  return { nodes, truncated, complete: false };
}

function passes(dept: DeptRow, { status, name }: Pick<TreeWish, 'status' | 'name'>): boolean {
  return (
    (status === undefined || dept.status === status) && (name === undefined || dept.deptName.includes(name))
  );
}
