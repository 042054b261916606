import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChangeEntity } from '../../src/database/change-log';
import { ApiClient } from '../../src/server/testing';
import { Chance, faultsSeed } from '../support/chance';
import { times } from '../support/long-run';
import { freePort } from '../support/mariadb-server';
import { isGenuine, Receiver } from '../support/receiver';
import { aTenantRow } from '../support/seeds';
import { emptyDatabase } from '../support/test-database';
import { until } from '../support/until';

const HOST = join(__dirname, '..', 'support', 'change-host.cjs');
const KILLS = times(30, 4);

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

it(`a webhook and a handler of changes miss nothing, and get it in order, over ${KILLS} kills of their process`, async () => {
  const chance = new Chance(faultsSeed('changes'));
  const database = await emptyDatabase();
  const receiver = await Receiver.start();
  const file = join(database.folder, 'followed.txt');
  const running = new Set<ChildProcess>();
  const start = async (): Promise<Replica> => {
    const port = await freePort();
    const child = spawn(process.execPath, [HOST, JSON.stringify({ url: database.url, port, file })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add(child);
    await once(child.stdout, 'data');
    const client = new ApiClient(`http://127.0.0.1:${port}`);
    return { process: child, api: (tenantId) => client.with({ 'x-tenant': tenantId }) };
  };
  try {
    const dataSource = await database.open();
    const replicas = [await start(), await start()];
    const tenants = [
      await aTenantRow(dataSource),
      await aTenantRow(dataSource),
      await aTenantRow(dataSource),
    ];
    const secrets = new Map<string, string>();
    for (const tenantId of tenants) {
      const hook = { url: receiver.url(`/${tenantId}`), kinds: ['dept'] };
      const { body } = await replicas[0]!.api(tenantId).post('/system/webhook-api', hook);
      secrets.set(tenantId, (body.data as { secret: string }).secret);
      receiver.answer(`/${tenantId}`, (response) => response.writeHead(chance.hit(0.01) ? 500 : 204).end());
    }
    let isOver = false;
    let acknowledged = 0;
    const writing = tenants.map(async (tenantId) => {
      while (!isOver) {
        const replica = chance.pick(replicas);
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
      const { process: victim } = replicas[kill % 2]!;
      const ended = once(victim, 'exit');
      victim.kill('SIGKILL');
      await ended;
      running.delete(victim);
      replicas[kill % 2] = await start();
    }
    isOver = true;
    await Promise.all(writing);
    const entries = await dataSource.manager.find(ChangeEntity, {
      where: { kind: 'dept' },
      order: { version: 'ASC', seq: 'ASC' },
    });
    const journal = firstOf(entries.map(({ tenantId, version, seq }) => `${tenantId} ${version} ${seq}`));
    expect(entries.length).toBeGreaterThanOrEqual(acknowledged);
    const sent = () =>
      receiver.received.map(({ message: { data } }) => `${data.tenantId} ${data.version} ${data.seq}`);
    const followed = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
    const count = (places: string[]) => new Set(places).size;
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
    for (const child of running) child.kill('SIGKILL');
    await receiver.stop();
    await database.drop();
  }
});
