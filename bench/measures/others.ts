import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/testing/api-client';
import { quantile } from '../support/figures';
import { closedLoad, rawRequest } from '../../test/support/load';
import { LoadProcess } from '../../test/support/load-process';
import { figureResult, type Measure, type Result } from '../support/result';
import { addSubtree, fillTenants } from '../support/world';
import { serviceMove } from './move';

const ROUNDS = 4;
const ROUND_MS = 3000;
/** Few readers with pauses: what is measured is that large work is in the way, not that the machine is busy. */
const READERS = { connections: 8, paceMs: 200 };

/** Connections of a tenant that asks for more than it gets, and how long it does so. */
const GREEDY = { connections: 64, seconds: 1 };

/** How long reads of others take while large work of other tenants runs, or very much small work, against the quiet state. */
export const others: Measure = {
  name: 'others',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const readers = await fillTenants(dataSource, { tenants: 8, depts: 1000 });
    const [one, two] = await fillTenants(dataSource, { tenants: 2, depts: 50_000 });
    const [treeOne, treeTwo] = await fillTenants(dataSource, { tenants: 2, depts: 5000 });
    const [mover] = await fillTenants(dataSource, { tenants: 1, depts: 100 });
    if (!one || !two || !treeOne || !treeTwo || !mover) throw new Error('There is no caller.');
    const service = await bed.service();
    const api = new ApiClient(service.baseUrl);
    const move = serviceMove(api.as(mover.token), await addSubtree(dataSource, mover, 100_000));
    // Not by the client, which would keep the text and so be slow itself.
    const both =
      (...tokens: [string, string]) =>
      (path: string) =>
      () => {
        const requests = tokens.map((token) => rawRequest('GET', `/system/dept-api/${path}`, token));
        const request = (connection: number): string => requests[connection] ?? '';
        return closedLoad({ port: service.port, connections: 2, requests: 2, request });
      };
    // From another process: this one must have time to read the answers of the others.
    const load = new LoadProcess();
    const asked = Array.from({ length: 1000 }, (_, n) =>
      rawRequest('GET', `/system/dept-api/${treeOne.firstDept + n}`, treeOne.token),
    );
    const greedy = (): Promise<unknown> =>
      load.run('flood', service.port, asked, GREEDY.connections, GREEDY.seconds);
    const works: [name: string, bounds: [number, number], work: () => Promise<unknown>][] = [
      ['two exports of 50,000 run', [2, 4], both(one.token, two.token)('export')],
      ['two trees of 5,000 are read', [2, 4], both(treeOne.token, treeTwo.token)('tree')],
      ['100,000 departments move', [2, 3], move],
      [`one tenant reads over ${GREEDY.connections} connections`, [2, 4], greedy],
    ];
    const request = (connection: number, n: number): string => {
      const { firstDept = 0, token = '' } = readers[connection] ?? {};
      return rawRequest('GET', `/system/dept-api/${firstDept + (n % 1000)}`, token);
    };
    /** Reads for a while, and until the work has ended, which is done over and over meanwhile. */
    const readBeside = async (work: () => Promise<unknown>): Promise<number[]> => {
      const end = performance.now() + ROUND_MS;
      let isWorking = true;
      const repeated = (async () => {
        while (performance.now() < end) await work();
      })().finally(() => (isWorking = false));
      const took = await closedLoad({ port: service.port, ...READERS, requests: () => isWorking, request });
      await repeated;
      return took;
    };
    await closedLoad({ port: service.port, connections: 8, requests: 2000, request });
    const results: Result[] = [];
    for (const [name, [median, p99], work] of works) {
      await work();
      const [quiet, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        quiet.push(...(await readBeside(() => sleep(100))));
        beside.push(...(await readBeside(work)));
      }
      for (const [label, part, bound] of [['Median', 0.5, median] as const, ['p99', 0.99, p99] as const]) {
        const [a, b] = [quantile(beside, part), quantile(quiet, part)];
        const heading = { work: `${label} of reads by id while ${name}`, baseline: 'the quiet state', bound };
        results.push(figureResult(heading, a / b, '×', `${a.toFixed(2)} ms against ${b.toFixed(2)} ms`));
      }
    }
    api.close();
    load.stop();
    return results;
  },
};
