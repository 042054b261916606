import { TimeSlices } from '../time/time-slices';
import { JsonText } from '../web/envelope';
import type { DeptNodeDto, DeptTreeDto } from './dept.dto';

/** Below it, the children of a department become text in one go, which costs half as much. */
const LEVELS_IN_SLICES = 2;

/** The JSON of a tree, made in slices: 5,000 departments in one go would block the event loop for 10 ms. */
export async function treeToJson({ rows, truncated }: DeptTreeDto): Promise<JsonText> {
  return new JsonText(
    `{"rows":${await nodesToJson(rows, new TimeSlices(), LEVELS_IN_SLICES)},"truncated":${truncated}}`,
  );
}

async function nodesToJson(
  nodes: readonly DeptNodeDto[],
  slices: TimeSlices,
  levels: number,
): Promise<string> {
  if (levels === 0) return JSON.stringify(nodes);
  const texts: string[] = [];
  for (const node of nodes) {
    if (slices.isOver) await slices.next();
    texts.push(node.children.length === 0 ? JSON.stringify(node) : await parentToJson(node, slices, levels));
  }
  return `[${texts.join(',')}]`;
}

async function parentToJson(node: DeptNodeDto, slices: TimeSlices, levels: number): Promise<string> {
  // The list of children is the last field, and empty here.
  const alone = JSON.stringify(Object.assign({}, node, { children: [] }));
  return `${alone.slice(0, -'[]}'.length)}${await nodesToJson(node.children, slices, levels - 1)}}`;
}
