import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/testing/api-client';
import { rawRequest } from '../../test/support/load';
import type { Bed } from '../support/bed';
import { costOf } from '../support/cost';
import { interleave, quantile, type Side } from '../support/figures';
import { figureResult, ratioResult, type Measure, type Result } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { addSubtree, fillTenants, type Caller } from '../support/world';
import { serviceMove } from './move';

const DEPTS = '/system/dept-api';
const CHANGES = '/system/change-api';
const ROUNDS = 7;
const CREATES = 400;
const PAGES = 400;
const TREES = 60;
const MOVED = 10_000;
const FOLLOWED = 200;

/** What the journal costs those who write, and how quickly those who follow it hear of a change. */
export const journal: Measure = {
  name: 'journal',
  async run(bed) {
    const service = await bed.service();
    const callers = await fillTenants(await bed.dataSource(), { tenants: 20, depts: 1000 });
    const without = await bed.service({ journal: false });
    return [
      await creates(bed, service, without, callers),
      await moves(bed, service, without, callers),
      await pages(service, await bed.baseline('smallest-nest'), callers),
      await trees(service, callers),
      await following('the same process', service, service, callers, 200),
      await following('another process', service, await bed.service(), callers, 1000),
    ];
  },
};

/** CPU of a server for so many requests by turns of the callers, and of the database where it is told. */
function asking(
  server: ServerProcess,
  leadIn: number,
  requests: readonly string[],
  database = () => 0,
): Side {
  return () =>
    costOf({
      ...{ port: server.port, connections: 16, requests: requests.length, leadIn },
      request: (_, n) => requests[n % requests.length] ?? '',
      cpuMs: () => server.cpuMs() + database(),
    });
}

function repeated(callers: readonly Caller[], count: number, textOf: (caller: Caller) => string): string[] {
  return Array.from({ length: Math.ceil(count / callers.length) }, () => callers.map(textOf)).flat();
}

async function creates(
  bed: Bed,
  service: ServerProcess,
  without: ServerProcess,
  callers: readonly Caller[],
): Promise<Result> {
  const requests = repeated(callers, CREATES, ({ token, firstDept }) =>
    rawRequest('POST', DEPTS, token, { parentId: firstDept + 20, deptName: '研发部', leader: '张三' }),
  );
  const database = await bed.mariadbCpu();
  const both = [service, without].map((server) => asking(server, callers.length, requests, database));
  await interleave(both, 2);
  const [withJournal = [], withoutJournal = []] = await interleave(both, ROUNDS);
  const heading = { work: 'Create with the journal', baseline: 'create without it', bound: 1.3 };
  return ratioResult(heading, withJournal, withoutJournal, 'µs CPU of service and database');
}

async function moves(
  bed: Bed,
  service: ServerProcess,
  without: ServerProcess,
  callers: readonly Caller[],
): Promise<Result> {
  const dataSource = await bed.dataSource();
  const sides: Side[] = [];
  for (const [at, caller] of callers.slice(0, 2).entries()) {
    const server = at === 0 ? service : without;
    sides.push(
      serviceMove(
        new ApiClient(server.baseUrl).as(caller.token),
        await addSubtree(dataSource, caller, MOVED),
      ),
    );
  }
  await interleave(sides, 2);
  const [withJournal = [], withoutJournal = []] = await interleave(sides, ROUNDS);
  const heading = { work: 'Move of 10,000 with the journal', baseline: 'the move without it', bound: 1.1 };
  return ratioResult(heading, withJournal, withoutJournal, 'ms');
}

async function pages(
  service: ServerProcess,
  smallest: ServerProcess,
  callers: readonly Caller[],
): Promise<Result> {
  // As followers ask: with the cursor of the page before.
  const cursors = new Map<Caller, string>();
  for (const caller of callers) {
    const { body } = await new ApiClient(service.baseUrl)
      .as(caller.token)
      .get(`${CHANGES}?limit=1&kinds=dept`);
    cursors.set(caller, (body as { data: { nextCursor: string } }).data.nextCursor);
  }
  const requests = repeated(callers, PAGES, (caller) =>
    rawRequest('GET', `${CHANGES}?limit=100&kinds=dept&after=${cursors.get(caller) ?? ''}`, caller.token),
  );
  const sides = [service, smallest].map((server) => asking(server, callers.length, requests));
  await interleave(sides, 3);
  const [own = [], theirs = []] = await interleave(sides, ROUNDS);
  const heading = { work: 'Page of 100 changes', baseline: 'the smallest Nest application', bound: 1.5 };
  return ratioResult(heading, own, theirs, 'µs CPU');
}

async function trees(service: ServerProcess, callers: readonly Caller[]): Promise<Result> {
  // Since then every tenant has a hundred new departments and more.
  const treeOf = (query: string) =>
    repeated(callers.slice(2), TREES, ({ token }) => rawRequest('GET', `${DEPTS}/tree${query}`, token));
  const sides = ['?asOf=1', ''].map((query) => asking(service, callers.length, treeOf(query)));
  await interleave(sides, 2);
  const [past = [], live = []] = await interleave(sides, ROUNDS);
  const heading = { work: 'Tree of 1,000 as it was', baseline: 'the live tree', bound: 3 };
  return ratioResult(heading, past, live, 'µs CPU');
}

/** How long after the answer to a write a waiting follower has its answer. */
async function following(
  where: string,
  writer: ServerProcess,
  reader: ServerProcess,
  [caller]: readonly Caller[],
  bound: number,
): Promise<Result> {
  const token = caller?.token ?? '';
  const [write, follow] = [new ApiClient(writer.baseUrl).as(token), new ApiClient(reader.baseUrl).as(token)];
  const cursorOf = (body: unknown) => (body as { data: { nextCursor: string } }).data.nextCursor;
  let after = cursorOf((await follow.get(`${CHANGES}?after=now`)).body);
  const took: number[] = [];
  for (let n = 0; n < FOLLOWED; n += 1) {
    const answered = follow
      .get(`${CHANGES}?after=${after}&wait=25`)
      .then(({ body }) => ({ at: performance.now(), cursor: cursorOf(body) }));
    await sleep(20 + ((n * 37) % 400));
    await write.post(DEPTS, { deptName: 'followed' });
    const written = performance.now();
    const { at, cursor } = await answered;
    took.push(Math.max(0, at - written));
    after = cursor;
  }
  write.close();
  follow.close();
  const heading = { work: `A follower in ${where} hears of a change, p99`, baseline: '', bound };
  const details = `median ${quantile(took, 0.5).toFixed(1)} ms, most ${Math.max(...took).toFixed(0)} ms`;
  return figureResult(heading, quantile(took, 0.99), 'ms', details);
}
