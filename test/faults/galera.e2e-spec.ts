import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { openBeside } from '../support/crash-rounds';
import { startRedis } from '../support/redis-server';
import { Chance, faultsSeed } from '../support/chance';
import type { Follower } from '../support/follower';
import { TenantryDept } from '../../src/dept/dept.entity';
import { ledgerOf, numbersOf, outcome, use } from '../support/quotas';
import { aTenantRow, aTenantWith } from '../support/seeds';
import { GaleraCluster, NODES, type NodeNumber } from './support/galera-cluster';
import { NodeFollowers } from './support/node-followers';
import { expectSoundAndEqual } from './support/node-state';
import { opposingWrites } from './support/opposing-writes';
import { longestGap, type Outage, strikeOnce, strikes } from './support/node-faults';
import { until } from '../support/until';
import { WriteLoad } from '../support/write-load';
import type { ServerProcess } from '../support/server-process';

const OUTAGE_MS = 5000;
const WRITE_MS = 30_000;
const ROUNDS = 100;
/** Writes that are acknowledged before the first fault. */
const BEFORE = 50;

describe('three replicas on three Galera nodes', () => {
  const seed = faultsSeed('three nodes');
  let cluster: GaleraCluster;
  let redis: ServerProcess;
  const replicas: ChildService[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    cluster = await GaleraCluster.start();
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await cluster.stop();
    await redis.end('SIGKILL');
  });

  /** So many services at these addresses, all started at once. */
  async function servicesAt(urls: readonly string[]): Promise<ChildService[]> {
    const settings = { REDIS_URL: redis.url, RATE_LIMIT: 'on', RATE_LIMIT_USER: '999999999' };
    const start = (url: string) =>
      ChildService.start({ url, folder: cluster.folder } as ThrowAwayDatabase, settings);
    const started = await Promise.all(urls.map(start));
    replicas.push(...started);
    return started;
  }
  const servicesOn = (nodes: readonly NodeNumber[]) => servicesAt(nodes.map((node) => cluster.urlOf(node)));

  async function onNode<T>(node: NodeNumber, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
    const dataSource = await openBeside({ url: cluster.urlOf(node) });
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  async function expectWhole(): Promise<void> {
    await cluster.untilEqual();
    await expectSoundAndEqual(NODES.map((node) => cluster.urlOf(node)));
  }

  it('a Galera cluster starts within a minute, and three replicas prepare its empty database together', async () => {
    expect(cluster.startMs).toBeLessThan(60_000);
    await servicesAt([cluster.url, cluster.url, cluster.url]);
    await expectWhole();
  });

  it('a Galera cluster keeps every acknowledged write, once, through 12 kills, freezes and isolations, and never pauses for 5 s', async () => {
    const chance = new Chance(seed);
    const clients = replicas.map((replica) => () => replica.anonymous);
    const load = await onNode(await cluster.writer(), (dataSource) =>
      WriteLoad.on(clients, dataSource, chance, { shared: 6 }),
    );
    const began = performance.now();
    load.begin();
    await load.untilMore(BEFORE);
    const outages: Outage[] = [];
    for (const strike of strikes(chance)) {
      if (load.hasFailed) break;
      const outage = await strikeOnce(cluster, strike, chance, load);
      process.stderr.write(`${JSON.stringify(outage)}\n`);
      outages.push(outage);
    }
    await sleep(Math.max(0, WRITE_MS - (performance.now() - began)));
    await load.rest();
    const longest = longestGap(load.acknowledgedAt, began, performance.now()).gap;
    const { acknowledged, retried } = load;
    process.stderr.write(`${JSON.stringify({ acknowledged, retried, longest })}\n`);
    expect(outages).toHaveLength(12);
    await expectWhole();
    for (const node of NODES) {
      const problems = await onNode(node, (dataSource) => load.problems(dataSource));
      expect([node, problems]).toEqual([node, []]);
    }
    expect(longest).toBeLessThan(OUTAGE_MS);
  });

  it('followers on each node of Galera skip nothing and see nothing twice, through four kills of nodes', async () => {
    const chance = new Chance(seed);
    const clients = replicas.map((replica) => () => replica.anonymous);
    const load = await onNode(await cluster.writer(), (dataSource) =>
      WriteLoad.on(clients, dataSource, chance),
    );
    const services = await servicesOn(NODES);
    const followers = services.map((service) => new NodeFollowers(service, load.tenantIds));
    load.begin();
    for (const onWriter of [true, false, true, false])
      await strikeOnce(cluster, { fault: 'kill', onWriter }, chance, load);
    await load.rest();
    await cluster.untilEqual();
    const all = (await Promise.all(followers.map((each) => each.end()))).flat();
    const { acknowledged } = load;
    const interrupted = followers.map((each) => each.interrupted);
    process.stderr.write(
      `${JSON.stringify({ acknowledged, seen: all.map(({ changes }) => changes.length), interrupted })}\n`,
    );
    expect(all.flatMap(({ problems }) => problems)).toEqual([]);
    const placesOf = (follower: Follower) => follower.changes.map(({ version, seq }) => `${version}.${seq}`);
    const tenants = load.tenantIds.length;
    for (const [index, follower] of all.entries())
      expect(placesOf(follower)).toEqual(placesOf(all[index % tenants]!));
    for (const [index, tenantId] of load.tenantIds.entries()) {
      const depts = await onNode(1, ({ manager }) =>
        manager.findBy(TenantryDept, { tenantId, delFlag: '0' }),
      );
      const names = depts.map(({ deptId, deptName }) => `${deptId} ${deptName}`).sort();
      const copied = [...all[index]!.of('dept')]
        .map(([id, fields]) => `${id} ${String(fields.deptName)}`)
        .sort();
      expect(copied).toEqual(names);
    }
    await expectWhole();
  });

  it('three nodes of Galera give exactly 500 of a quota of 500 to 1,000 who ask, though one is killed meanwhile', async () => {
    const nodes = await servicesOn(NODES);
    const tenantId = await onNode(1, (dataSource) => aTenantWith(dataSource, { riskReport: 500 }));
    await cluster.untilEqual();
    const apis = nodes.map((node) => node.as({ tenantId }));
    const outcomes: Record<string, number> = {};
    let [next, resent] = [0, 0];
    const spend = async (key: number, at: number): Promise<void> => {
      const answer = await use(apis[at % 3]!, `k${key}`);
      if (answer.status === 503) {
        resent += 1;
        return spend(key, at + 1);
      }
      const told = outcome(answer);
      outcomes[told] = (outcomes[told] ?? 0) + 1;
    };
    const lane = async (): Promise<void> => {
      while (next < 1000) await spend((next += 1), next);
    };
    const spending = Promise.all(Array.from({ length: 24 }, lane));
    await until(() => (outcomes[200] ?? 0) >= 150);
    cluster.kill(2);
    await spending;
    await cluster.mend(2, 'kill');
    for (const node of NODES) await cluster.untilFit(node);
    process.stderr.write(`${JSON.stringify({ ...outcomes, resent })}\n`);
    expect(outcomes).toEqual({ 200: 500, QUOTA_EXCEEDED: 500 });
    await expectWhole();
    for (const api of apis) expect(await numbersOf(api)).toEqual([500, 500, 0, 0]);
    expect(await ledgerOf(apis[0]!)).toHaveLength(500);
  });

  it('trees stay right when two proxies disagree about the writer of Galera: opposing moves, and children of what is being deleted', async () => {
    const [first, second] = await servicesOn([1, 2]);
    const tenantId = await onNode(1, aTenantRow);
    await cluster.untilEqual();
    await opposingWrites(first!.as({ tenantId }), second!.as({ tenantId }), ROUNDS);
    await expectWhole();
  });
});
