import { TimeSlices } from '../time/time-slices';
import { placeUnder, TOP_LEVEL, type Place, type TreeNode } from './tree-path';

type Key = TreeNode['key'];

export interface ChildNode {
  readonly key: Key;
  /** Null right below the root. */
  readonly parent: Key | null;
}

export interface TreePlaces {
  /** Of every node that has a way up to the root. */
  readonly places: ReadonlyMap<Key, Place>;
  /** Nodes whose parent is missing. What stands below them has no place either, but is not at fault. */
  readonly orphans: readonly Key[];
  /** Nodes that are their own ancestors. */
  readonly cycles: readonly Key[];
}

export interface StoredNode extends ChildNode, Place {}

export interface TreeReport extends Pick<TreePlaces, 'orphans' | 'cycles'> {
  /** As they should be. */
  readonly wrongPaths: readonly TreeNode[];
}

/** Where the nodes of one tree stand, by their parents alone. In slices, because there may be a million. */
export async function findPlaces(nodes: readonly ChildNode[]): Promise<TreePlaces> {
  const slices = new TimeSlices();
  const byKey = new Map<Key | null, ChildNode>();
  for (const node of nodes) {
    if (slices.isOver) await slices.next();
    byKey.set(node.key, node);
  }
  const [places, orphans, cycles] = [new Map<Key, Place>(), [] as Key[], [] as Key[]];
  /** By node, the first of the nodes from which it was met on the way up. */
  const metFrom = new Map<ChildNode, ChildNode>();
  for (const start of byKey.values()) {
    const way: ChildNode[] = [];
    let above: ChildNode | undefined = start;
    for (; above && !metFrom.has(above); above = byKey.get(above.parent)) {
      if (slices.isOver) await slices.next();
      metFrom.set(above, start);
      way.push(above);
    }
    const top = way.at(-1);
    if (!top) continue;
    let place: Place | undefined;
    if (above) {
      const known = places.get(above.key);
      if (known) place = placeUnder({ key: above.key, ...known });
      else if (metFrom.get(above) === start)
        for (const { key } of way.slice(way.indexOf(above))) cycles.push(key);
    } else if (top.parent === null) place = TOP_LEVEL;
    else orphans.push(top.key);
    for (const node of way.reverse()) {
      if (!place) break;
      if (slices.isOver) await slices.next();
      places.set(node.key, place);
      place = placeUnder({ key: node.key, ...place });
    }
  }
  return { places, orphans, cycles };
}

/** Holds the paths of the live nodes of one tree against their parents. */
export async function examineTree(nodes: readonly StoredNode[]): Promise<TreeReport> {
  const { places, orphans, cycles } = await findPlaces(nodes);
  const wrongPaths = nodes.flatMap(({ key, ancestors, depth }) => {
    const right = places.get(key);
    const isWrong = right && (right.ancestors !== ancestors || right.depth !== depth);
    return isWrong ? [{ key, ...right }] : [];
  });
  return { orphans, cycles, wrongPaths };
}
