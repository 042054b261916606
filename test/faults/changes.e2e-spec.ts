import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TenantryChange } from '../../src/journal/change-log';
import { ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { Chance, faultsSeed } from '../support/chance';
import { times } from '../support/long-run';
import { freePort } from '../support/free-port';
import { isGenuine, Receiver } from '../support/receiver';
import { aTenantRow } from '../support/seeds';
import { emptyDatabase } from '../support/test-database';
import { until } from '../support/until';

const HOST = join(__dirname, '..', 'support', 'change-host.cjs');
const KILLS = times(30, 4);
const CATCH_UP_MS = 15_000;
/** Changes that are made right before the last kill. */
const BACKLOG = 800;

interface Replica {
  readonly process: ChildProcess;
  readonly api: (tenantId: string) => ApiClient;
}

/** For each tenant what came first, in the order in which it came first. */
function firstOf(places: readonly string[]): Map<string, string[]> {
  const seen = new Map<string, Set<string>>();
  for (const place of places) {
    const [tenantId = '', version, seq] = place.split(' ');
    seen.set(tenantId, (seen.get(tenantId) ?? new Set()).add(`${version} ${seq}`));
  }
  return new Map([...seen].map(([tenantId, set]) => [tenantId, [...set]]));
}

/** Some replicas of one service, which are killed and started again. */
class Replicas {
  readonly all: Replica[] = [];
  readonly file: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(private readonly database: ThrowAwayDatabase) {
    this.file = join(database.folder, 'followed.txt');
  }

  static async start(database: ThrowAwayDatabase, count: number): Promise<Replicas> {
    const replicas = new Replicas(database);
    while (replicas.all.length < count) replicas.all.push(await replicas.#start());
    return replicas;
  }

  /** Ends one by `kill -9` and starts another in its place. */
  async replace(index: number): Promise<void> {
    const { process: victim } = this.all[index]!;
    const ended = once(victim, 'exit');
    victim.kill('SIGKILL');
    await ended;
    this.#running.delete(victim);
    this.all[index] = await this.#start();
  }

  stop(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }

  async #start(): Promise<Replica> {
    const port = await freePort();
    const options = JSON.stringify({ url: this.database.url, port, file: this.file });
    const child = spawn(process.execPath, [HOST, options], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#running.add(child);
    await once(child.stdout, 'data');
    const client = new ApiClient(`http://127.0.0.1:${port}`);
    return { process: child, api: (tenantId) => client.with({ 'x-tenant': tenantId }) };
  }
}

const placesOf = ({ received }: Receiver) =>
  received.map(({ message: { data } }) => `${data.tenantId} ${data.version} ${data.seq}`);
const count = (places: readonly string[]) => new Set(places).size;

it(`a webhook has caught up ${CATCH_UP_MS} ms after three replicas were killed for the fifth time`, async () => {
  const chance = new Chance(faultsSeed('catching up'));
  const database = await emptyDatabase();
  const receiver = await Receiver.start();
  const dataSource = await database.open(serviceTables);
  const replicas = await Replicas.start(database, 3);
  try {
    const tenantId = await aTenantRow(dataSource);
    const hook = { url: receiver.url('/hook'), kinds: ['dept'] };
    await replicas.all[0]!.api(tenantId).post('/system/webhook-api', hook);
    let isOver = false;
    const write = async (): Promise<void> => {
      while (!isOver) {
        const { api } = chance.pick(replicas.all);
        await api(tenantId)
          .post('/system/dept-api', { deptName: 'd' })
          .catch(() => null);
        await sleep(1);
      }
    };
    const writing = [write(), write(), write()];
    let killed = 0;
    for (let kill = 0; kill < 5; kill += 1) {
      await sleep(1000 + chance.below(1000));
      if (kill === 4) {
        const lines = Array.from({ length: BACKLOG }, (_, n) => `{"path":"i${n}"}\n`).join('');
        const type = { 'content-type': 'application/x-ndjson' };
        await replicas.all[0]!.api(tenantId).post('/system/dept-api/import', lines, type);
      }
      killed = performance.now();
      // All at once, so that nobody gives the lease back.
      await Promise.all(replicas.all.map((_, index) => replicas.replace(index)));
    }
    isOver = true;
    await Promise.all(writing);
    const entries = await dataSource.manager.countBy(TenantryChange, { kind: 'dept' });
    const behind = entries - count(placesOf(receiver));
    expect(behind).toBeGreaterThan(0);
    await until(() => count(placesOf(receiver)) >= entries);
    const took = Math.round(performance.now() - killed);
    const repeated = receiver.received.length - entries;
    console.log(
      `${entries} changes, ${behind} behind; caught up ${took} ms after the last kill; came again: ${repeated}`,
    );
    expect(took).toBeLessThan(CATCH_UP_MS);
  } finally {
    replicas.stop();
    await receiver.stop();
    await database.drop();
  }
});

it(`a webhook and a handler of changes miss nothing, and get it in order, over ${KILLS} kills of their process`, async () => {
  const chance = new Chance(faultsSeed('changes'));
  const database = await emptyDatabase();
  const receiver = await Receiver.start();
  const dataSource = await database.open(serviceTables);
  const replicas = await Replicas.start(database, 2);
  const { file } = replicas;
  try {
    const tenants = [
      await aTenantRow(dataSource),
      await aTenantRow(dataSource),
      await aTenantRow(dataSource),
    ];
    const secrets = new Map<string, string>();
    for (const tenantId of tenants) {
      const hook = { url: receiver.url(`/${tenantId}`), kinds: ['dept'] };
      const { body } = await replicas.all[0]!.api(tenantId).post('/system/webhook-api', hook);
      secrets.set(tenantId, (body.data as { secret: string }).secret);
      receiver.answer(`/${tenantId}`, (response) => response.writeHead(chance.hit(0.01) ? 500 : 204).end());
    }
    let isOver = false;
    let acknowledged = 0;
    const writing = tenants.map(async (tenantId) => {
      while (!isOver) {
        const replica = chance.pick(replicas.all);
        const answer = await replica
          .api(tenantId)
          .post('/system/dept-api', { deptName: 'd' })
          .catch(() => null);
        if (answer?.status === 200) acknowledged += 1;
        await sleep(5);
      }
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(200 + chance.below(600));
      await replicas.replace(kill % 2);
    }
    isOver = true;
    await Promise.all(writing);
    const entries = await dataSource.manager.find(TenantryChange, {
      where: { kind: 'dept' },
      order: { version: 'ASC', seq: 'ASC' },
    });
    const journal = firstOf(entries.map(({ tenantId, version, seq }) => `${tenantId} ${version} ${seq}`));
    expect(entries.length).toBeGreaterThanOrEqual(acknowledged);
    const sent = () => placesOf(receiver);
    const followed = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
    await until(() => count(sent()) >= entries.length && count(followed()) >= entries.length);
    expect(firstOf(sent())).toEqual(journal);
    expect(firstOf(followed())).toEqual(journal);
    expect(receiver.received.every((each) => isGenuine(secrets.get(each.message.data.tenantId)!, each))).toBe(
      true,
    );
    const repeated = [sent(), followed()].map((places) => places.length - count(places));
    console.log(
      `${entries.length} changes, ${KILLS} kills; came again: webhook ${repeated[0]}, handler ${repeated[1]}`,
    );
  } finally {
    replicas.stop();
    await receiver.stop();
    await database.drop();
  }
});
