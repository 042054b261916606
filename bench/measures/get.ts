import { aDept } from '../../src/testing/builders';
import { mintToken } from '../../src/server/testing';
import type { Bed, Kind } from '../support/bed';
import { bestOfTwo, comparison, interleave } from '../support/compare';
import { cpuSide } from '../support/cpu';
import { rawRequest } from '../support/load';
import { ratioResult, type Heading, type Measure, type Result } from '../support/result';
import type { ServerProcess } from '../support/server-process';

const PATH = '/system/dept-api';
const DEPTS = 100;
const CONNECTIONS = 32;
const WARM_UP = 2000;
const ROUNDS = 7;

/** Reading one department: the whole service against bare handlers of the same statement. */
async function measureGet(
  bed: Bed,
  kind: Kind,
  heading: Heading & { readonly bound: number },
): Promise<Result[]> {
  const service = await bed.service(kind);
  const baseline = `get-${kind}`;
  const bare = await bed.baseline(baseline, kind);
  const linked = await bed.baseline(baseline, kind, { PRELINKED: '1' });
  const api = bed.client(service);
  const ids: number[] = [];
  while (ids.length < DEPTS) ids.push(await aDept(api, { deptName: `部门 ${ids.length}` }));
  api.close();
  await requireSameBodies(bed, ids, [service, bare, linked]);

  const token = mintToken();
  const requests = ids.map((id) => rawRequest('GET', `${PATH}/${id}`, token));
  const request = (_: number, n: number): string => requests[n % DEPTS] ?? '';
  const round = { connections: CONNECTIONS, warmUp: WARM_UP, request };
  const sides = [await cpuSide(service, round), await cpuSide(bare, round), await cpuSide(linked, round)];
  const { beside, ...found } = await bestOfTwo(heading.bound, async () => {
    const [mine = [], theirs = [], best = []] = await interleave(sides, ROUNDS);
    return { ...comparison(mine, theirs), beside: comparison(mine, best) };
  });
  const told = {
    work: `${heading.work} (told only)`,
    baseline: 'the same, requests pre-linked',
    bound: null,
  };
  return [ratioResult(heading, found, 'µs CPU'), ratioResult(told, beside, 'µs CPU')];
}

async function requireSameBodies(
  bed: Bed,
  ids: readonly number[],
  servers: readonly ServerProcess[],
): Promise<void> {
  const clients = servers.map((server) => bed.client(server));
  for (const id of ids) {
    const [first, ...others] = await Promise.all(
      clients.map(async (api) => (await api.get(`${PATH}/${id}`)).text),
    );
    const other = others.find((text) => text !== first);
    if (other !== undefined) throw new Error(`The answers differ: ${first ?? ''} and ${other}`);
  }
  for (const client of clients) client.close();
}

export const get: Measure = {
  name: 'get',
  run: (bed) =>
    measureGet(bed, 'mariadb', {
      work: 'GET by id, MariaDB',
      baseline: 'bare Express 5, jsonwebtoken, mysql2',
      bound: 1,
      aim: 0.65,
    }),
};

export const getSqlite: Measure = {
  name: 'get-sqlite',
  run: (bed) =>
    measureGet(bed, 'sqlite', {
      work: 'GET by id, SQLite',
      baseline: 'bare Express 5, jsonwebtoken, same driver',
      bound: 1,
      aim: 0.7,
    }),
};
