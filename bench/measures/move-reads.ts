import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/server/testing';
import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import { bestOfTwo, comparison } from '../support/compare';
import { quantile } from '../support/figures';
import { load, rawRequest } from '../support/load';
import { serviceMover } from '../support/mover';
import { fillQuickly } from '../support/quick-fill';
import { ratioResult, type Measure } from '../support/result';
import { fillWithSubtrees } from '../support/subtrees';

const MOVED = 100_000;
const READ = 1000;
const ROUNDS = 5;
const BOUND = 3;
/** After a move the database still tidies up. */
const CALM_MS = 1000;
/** Few readers with pauses: what is measured is that a move is in the way, not that the machine is busy. */
const READERS = { connections: 8, paceMs: 40 };

/** How long the slowest reads of one tenant take while a large subtree moves in another. */
export const moveReads: Measure = {
  name: 'move-reads',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const readers = await aTenantRow(dataSource);
    const base = await fillWithDepts(dataSource, readers, READ);
    const subtrees = await fillQuickly(dataSource, () => fillWithSubtrees(dataSource, [MOVED]));
    const service = await bed.service();
    const api = bed.client(service, subtrees.tenantId);
    const moves = serviceMover(api, subtrees, MOVED);
    const token = mintToken({ tenantId: readers });
    const request = (_: number, n: number): string =>
      rawRequest('GET', `/system/dept-api/${base + 1 + (n % READ)}`, token);
    const readWhile = async (work: Promise<unknown>): Promise<number[]> => {
      let goesOn = true;
      const end = (): void => void (goesOn = false);
      work.then(end, end);
      const took = await load({ port: service.port, ...READERS, requests: () => goesOn, request });
      await work;
      return took;
    };
    await load({ port: service.port, connections: 8, requests: 2000, request });
    let lastMs = await moves();
    const found = await bestOfTwo(BOUND, async () => {
      const [during, quiet]: [number[][], number[][]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(CALM_MS);
        quiet.push(await readWhile(sleep(lastMs)));
        during.push(await readWhile(moves().then((ms) => (lastMs = ms))));
      }
      const p99 = (took: readonly number[]) => quantile(took, 0.99);
      // One round has too few reads for a hundredth of them to say much.
      return {
        ...comparison(during.map(p99), quiet.map(p99)),
        ratio: p99(during.flat()) / p99(quiet.flat()),
      };
    });
    api.close();
    const heading = {
      work: 'p99 of GET by id while 100,000 departments move in another tenant',
      baseline: 'the same without the move',
      bound: BOUND,
      aim: 1.5,
    };
    return [ratioResult(heading, found, 'ms')];
  },
};
