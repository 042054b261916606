import { ask, askTagged, client, Refused } from './api.js';
import type { Answer, Change, Dept, DeptRow, Page } from './api.js';
import { t } from './words.js';

/** A department with its tag: a change is made on the condition that it is still the same. */
export type TaggedDept = Answer<Dept>;

type Editable = 'deptName' | 'leader' | 'phone' | 'email' | 'status' | 'orderNum' | 'parentId';
export type DeptFields = Partial<Pick<Dept, Editable>>;

export function readDept(id: number, asOf?: string): Promise<TaggedDept> {
  return askTagged(() => client.GET('/system/dept-api/{id}', { params: { path: { id }, query: { asOf } } }));
}

/** Gives the id of the new department. */
export async function createDept(body: DeptFields): Promise<number> {
  const { location } = await askTagged(() => client.POST('/system/dept-api', { body }));
  return Number(/[0-9]+$/.exec(location)?.[0]);
}

export async function changeDept(id: number, body: DeptFields, tag: string): Promise<void> {
  const params = { path: { id }, header: { 'If-Match': tag } };
  await ask(() => client.PATCH('/system/dept-api/{id}', { params, body }));
}

/** On the condition that it still is where it was seen. */
export async function moveDept(seen: Pick<Dept, 'deptId' | 'parentId'>, parentId: number): Promise<void> {
  const { data, tag } = await readDept(seen.deptId);
  if (data.parentId !== seen.parentId) throw new Refused(412, { msg: t('movedMeanwhile') }, null);
  await changeDept(seen.deptId, { parentId }, tag);
}

export async function orderDepts(parentId: number, deptIds: number[]): Promise<void> {
  await ask(() => client.PUT('/system/dept-api/order', { body: { parentId, deptIds } }));
}

export async function deleteDept({ data, tag }: TaggedDept, subtree: boolean): Promise<void> {
  const params = { path: { id: String(data.deptId) }, header: { 'If-Match': tag }, query: { subtree } };
  await ask(() => client.DELETE('/system/dept-api/{id}', { params }));
}

export async function restoreDept(id: number): Promise<void> {
  await ask(() => client.POST('/system/dept-api/{id}/restore', { params: { path: { id } } }));
}

export function deletedDepts(cursor?: string): Promise<Page<DeptRow>> {
  const query = { deleted: true, limit: 500, cursor };
  return ask(() => client.GET('/system/dept-api', { params: { query } }));
}

export function historyOf(id: number, cursor?: string): Promise<Page<Change>> {
  const params = { path: { id }, query: { limit: 100, cursor } };
  return ask(() => client.GET('/system/dept-api/{id}/history', { params }));
}

/** Departments with this in their names, as many as a person looks through, with the names above them. */
export async function findNamed(text: string): Promise<(DeptRow & { readonly path: string })[]> {
  const listed = (query: object) => ask(() => client.GET('/system/dept-api', { params: { query } }));
  const { rows } = await listed({ limit: 50, deptName: text.trim() || undefined });
  const aboveOf = ({ ancestors }: DeptRow): string[] => ancestors.split(',').slice(1);
  const ids = [...new Set(rows.flatMap(aboveOf))].slice(0, 500);
  const above = ids.length > 0 ? await listed({ ids: ids.join(','), limit: 500 }) : { rows: [] };
  const names = new Map(above.rows.map(({ deptId, deptName }) => [String(deptId), deptName]));
  return rows.map((row) => ({
    ...row,
    path: aboveOf(row)
      .map((id) => names.get(id))
      .join(' / '),
  }));
}
