import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, type ApiClient } from '../../../src/server/testing';

const PATH = '/system/dept-api';

/**
 * Opposing moves, and children of what is being deleted, by the same tenant on two nodes that write at the same time. Gives how
 * often each status was answered.
 */
export async function opposingWrites(
  here: ApiClient,
  there: ApiClient,
  rounds: number,
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    const [a, b, parent] = [await aDept(here), await aDept(here), await aDept(here)];
    // Its node may be a few milliseconds behind, and a 404 is no race.
    while ((await there.get(`${PATH}/${parent}`)).status !== 200) await sleep(1);
    const answers = [
      ...(await Promise.all([
        here.patch(`${PATH}/${a}`, { parentId: b }),
        there.patch(`${PATH}/${b}`, { parentId: a }),
      ])),
      ...(await Promise.all([here.delete(`${PATH}/${parent}`), there.post(PATH, { parentId: parent })])),
    ];
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}
