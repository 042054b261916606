import { setTimeout as sleep } from 'node:timers/promises';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { createDataSource } from '../../src/data-source';
import { aDept, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { RedisServer } from '../support/redis-server';
import { Chance, faultsSeed } from '../support/chance';
import { aTenantRow } from '../support/seeds';
import { GaleraCluster, NODES, type NodeNumber } from './support/galera-cluster';
import { longestGap, type Outage, strikeOnce, strikes } from './support/node-faults';
import { type Acknowledged, type Arena, TreeWriter } from './support/tree-writer';

const PATH = '/system/dept-api';
const OUTAGE_MS = 5000;
const WRITE_MS = 30_000;
const ROUNDS = 100;

describe('three replicas on three Galera nodes', () => {
  const seed = faultsSeed('three nodes');
  let cluster: GaleraCluster;
  let redis: RedisServer;
  let replicas: ChildService[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = await GaleraCluster.start();
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await cluster.stop();
    await redis.kill();
  });

  const database = (url: string) => ({ url, folder: cluster.folder }) as ThrowAwayDatabase;
  const settings = () => ({ REDIS_URL: redis.url, RATE_LIMIT: 'on', RATE_LIMIT_USER: '999999999' });

  async function onNode<T>(
    node: NodeNumber,
    work: (dataSource: Awaited<ReturnType<typeof createDataSource>>) => Promise<T>,
  ): Promise<T> {
    const dataSource = await (await createDataSource(parseDatabaseUrl(cluster.urlOf(node)))).initialize();
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  async function expectSoundAndEqual(): Promise<void> {
    await sleep(500); // the slowest node applies what is on its way
    for (const node of NODES) expect([node, await cluster.findings(node)]).toEqual([node, []]);
    const sums = await Promise.all(NODES.map((node) => cluster.sums(node)));
    expect(sums[1]).toEqual(sums[0]);
    expect(sums[2]).toEqual(sums[0]);
  }

  it('starts within a minute, and the replicas prepare its empty database together', async () => {
    expect(cluster.startMs).toBeLessThan(60_000);
    const start = () => ChildService.start(database(cluster.url), settings());
    replicas = await Promise.all([start(), start(), start()]);
    await expectSoundAndEqual();
  });

  it('keeps every acknowledged write, once, through 12 kills, freezes and isolations, and never pauses for 5 s', async () => {
    const random = new Chance(seed);
    const tenants = await onNode(await cluster.writer(), async (dataSource) => [
      await aTenantRow(dataSource),
      await aTenantRow(dataSource),
    ]);
    const arenasOf = new Map<string, number[]>();
    for (const tenantId of tenants) {
      const api = replicas[0]!.as({ tenantId });
      const shared = [];
      for (let n = 0; n < 6; n += 1) shared.push(await aDept(api, { deptName: `shared ${n}` }));
      arenasOf.set(tenantId, shared);
    }
    const log: Acknowledged = { at: [], retries: 0, refused: 0 };
    const writers = replicas.map((replica, n) => {
      const arenas: Arena[] = [...arenasOf].map(([tenantId, shared]) => ({
        tenantId,
        shared,
        api: replica.as({ tenantId, username: `writer-${n}` }),
      }));
      return new TreeWriter(`w${n}`, arenas, new Chance(`${seed} writer ${n}`), log);
    });
    let isOver = false;
    const began = performance.now();
    const writing = Promise.all(writers.map((writer) => writer.writeUntil(() => isOver)));
    const outages: Outage[] = [];
    const striking = (async () => {
      await sleep(1000);
      for (const strike of strikes(random)) {
        const outage = await strikeOnce(cluster, strike, random, log);
        process.stderr.write(`${JSON.stringify(outage)}\n`);
        outages.push(outage);
      }
      await sleep(Math.max(0, WRITE_MS - (performance.now() - began)));
    })();
    // Whoever fails first ends the other.
    await Promise.race([striking, writing]).finally(() => {
      isOver = true;
    });
    await writing;
    await striking;
    const [took, longest] = [performance.now() - began, longestGap(log.at, began, performance.now()).gap];
    const { at, retries, refused } = log;
    process.stderr.write(`${JSON.stringify({ took, acknowledged: at.length, retries, refused, longest })}\n`);
    expect(outages).toHaveLength(12);
    await expectSoundAndEqual();
    for (const node of NODES) {
      const losses = await onNode(node, async (dataSource) =>
        (await Promise.all(writers.map((writer) => writer.losses(dataSource)))).flat(),
      );
      expect([node, losses]).toEqual([node, []]);
    }
    expect(longest).toBeLessThan(OUTAGE_MS);
  });

  it('stays right when two proxies disagree about the writer: opposing moves, and children of what is being deleted', async () => {
    const [first, second] = await Promise.all(
      ([1, 2] as const).map((node) => ChildService.start(database(cluster.urlOf(node)), settings())),
    );
    replicas.push(first!, second!);
    const tenantId = await onNode(1, aTenantRow);
    await sleep(300);
    const [here, there] = [first!.as({ tenantId }), second!.as({ tenantId })];
    const statuses = new Map<string, number>();
    const count = (kind: string, ...answers: { status: number }[]) => {
      const key = `${kind} ${answers.map(({ status }) => status).join('/')}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const [a, b, parent] = [await aDept(here), await aDept(here), await aDept(here)];
      // Its node may be a few milliseconds behind, and a 404 is no race.
      while ((await there.get(`${PATH}/${parent}`)).status !== 200) await sleep(1);
      const moves = await Promise.all([
        here.patch(`${PATH}/${a}`, { parentId: b }),
        there.patch(`${PATH}/${b}`, { parentId: a }),
      ]);
      count('moves', ...moves);
      const deletion = await Promise.all([
        here.delete(`${PATH}/${parent}`),
        there.post(PATH, { parentId: parent }),
      ]);
      count('deletion', ...deletion);
    }
    process.stderr.write(`${JSON.stringify(Object.fromEntries(statuses))}\n`);
    await expectSoundAndEqual();
  });
});
