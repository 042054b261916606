import type { ApiClient } from '../../src/server/testing';
import type { Chance } from './chance';

const PATH = '/system/dept-api';

/** Writes to departments in every way, some of which are refused; `ids` are those that it knows, and learns. */
export async function writeAtRandom(
  api: ApiClient,
  chance: Chance,
  count: number,
  ids: number[],
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const [deptId, parentId] = [chance.pick([900_000_000, ...ids]), chance.pick([0, ...ids])];
    const kind = chance.below(10);
    if (kind < 3) {
      const { headers } = await api.post(PATH, { parentId, deptName: `${n}` });
      if (headers.location !== undefined) ids.push(Number(headers.location.split('/').at(-1)));
    } else if (kind < 5) await api.put(PATH, { deptId, parentId, deptName: `${n}` });
    else if (kind === 5) await api.patch(`${PATH}/${deptId}`, { parentId, phone: `${n}` });
    else if (kind === 6) await api.delete(`${PATH}/${deptId}?subtree=${chance.hit(0.5)}`);
    else if (kind === 7) await api.post(`${PATH}/${deptId}/restore`, { parentId });
    else if (kind === 8) {
      const { body } = await api.get(`${PATH}?parentId=${parentId}`);
      const rows = (body.data as { rows?: { deptId: number }[] }).rows ?? [];
      await api.put(`${PATH}/order`, { parentId, deptIds: rows.map((row) => row.deptId).toReversed() });
    } else {
      const file = ['a', 'b', 'a/c'].map((path) => JSON.stringify({ path, leader: `${n}` })).join('\n');
      await api.post(`${PATH}/import`, file, { 'content-type': 'application/x-ndjson' });
    }
  }
}
