import { TimeSlices } from '../time/time-slices';
import { JsonText } from '../web/envelope';
import type { DeptNodeDto, DeptTreeDto } from './dept.dto';

/** The JSON of a tree, made in slices: 5,000 departments in one go would block the event loop for 10 ms. */
export async function treeToJson({ rows, truncated }: DeptTreeDto): Promise<JsonText> {
  return new JsonText(`{"rows":${await nodesToJson(rows, new TimeSlices())},"truncated":${truncated}}`);
}

async function nodesToJson(nodes: readonly DeptNodeDto[], slices: TimeSlices): Promise<string> {
  const texts: string[] = [];
  for (const node of nodes) {
    if (slices.isOver) await slices.next();
    texts.push(node.children.length === 0 ? JSON.stringify(node) : await parentToJson(node, slices));
  }
  return `[${texts.join(',')}]`;
}

async function parentToJson(node: DeptNodeDto, slices: TimeSlices): Promise<string> {
  // The list of children is the last field, and empty here.
  const alone = JSON.stringify(Object.assign({}, node, { children: [] }));
  return `${alone.slice(0, -'[]}'.length)}${await nodesToJson(node.children, slices)}}`;
}
