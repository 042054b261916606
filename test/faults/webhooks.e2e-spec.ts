import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { TenantryPosition, TenantryWebhook } from '../../src/changes/subscription.entity';
import { subscriptionOf } from '../../src/changes/webhook/webhook.repository';
import { aDept } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { ChildService } from '../support/child-service';
import { Receiver } from '../support/receiver';
import { aTenantRow, bulkInsert, life } from '../support/seeds';
import { emptyDatabase } from '../support/test-database';
import { until } from '../support/until';
import { median, say, timesOf } from './support/measured-service';

const SILENT = join(__dirname, '..', 'support', 'silent-name-server.js');
const HOOKS = 1000;
const OF_EACH = 20;
const MESSAGES = 40;
const EVERY_MS = 500;
const BOUND_MS = 2000;
/** Of the process: connections to receivers, to the database and of clients, and what Node needs itself. */
const MOST_FILES = 300;

/** So many tenants below one. */
async function aBranch(dataSource: DataSource, count: number): Promise<string[]> {
  const top = await aTenantRow(dataSource);
  const below = { tenantParent: top, ancestors: `0,000000,${top}`, depth: 3 };
  const branch: string[] = [];
  while (branch.length < count) branch.push(await aTenantRow(dataSource, below));
  return branch;
}

it(`a message comes within ${BOUND_MS} ms while ${HOOKS} webhooks of another tenant hang`, async () => {
  const database = await emptyDatabase();
  const receiver = await Receiver.start();
  const service = await ChildService.start(database, { WEBHOOK_ALLOW_PRIVATE: 'on' });
  try {
    const dataSource = await database.open(serviceTables);
    receiver.answer('/hangs', () => undefined);
    receiver.answer('/never-ends', (response) => response.writeHead(200).write('more'));
    receiver.answer('/switches', (_, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: tunnel\r\nConnection: Upgrade\r\n\r\n'),
    );
    const paths = ['/hangs', '/hangs', '/never-ends', '/switches'];
    const other = await aTenantRow(dataSource);
    await service.as({ tenantId: other }).post('/system/webhook-api', { url: receiver.url('/fine') });
    const branch = await aBranch(dataSource, HOOKS / OF_EACH);
    await bulkInsert(
      dataSource,
      TenantryWebhook,
      Array.from({ length: HOOKS }, (_, n) => {
        const { status, createBy, createTime, updateBy } = life();
        const row = { tenantId: branch[n % branch.length]!, url: receiver.url(paths[n % paths.length]) };
        return { ...row, kinds: 'dept', secret: 'whsec_AAAA', status, createBy, createTime, updateBy };
      }),
    );
    const hooks = await dataSource.manager.findBy(TenantryWebhook, { kinds: 'dept' });
    await bulkInsert(
      dataSource,
      TenantryPosition,
      hooks.map(({ webhookId, tenantId: journal }) => {
        const at = { journal, webhookId, version: 0, seq: 2 ** 31 - 1, attempts: 0 };
        return { ...at, subscription: subscriptionOf(webhookId) };
      }),
    );
    for (const tenantId of branch) for (let n = 0; n < 3; n += 1) await aDept(service.as({ tenantId }));
    await until(() => receiver.at('/hangs').length > 0);
    const took: number[] = [];
    let files = 0;
    for (let n = 0; n < MESSAGES; n += 1) {
      const began = performance.now();
      await aDept(service.as({ tenantId: other }));
      await until(() => receiver.at('/fine').length === n + 1);
      took.push(performance.now() - began);
      files = Math.max(files, readdirSync(`/proc/${service.process.pid}/fd`).length);
      await sleep(EVERY_MS);
    }
    const [usual, longest] = [median(took), Math.max(...took)].map(Math.round);
    const tried = ['/hangs', '/never-ends', '/switches'].map((path) => receiver.at(path).length);
    say(
      `${MESSAGES} messages beside ${HOOKS} webhooks that hang: median ${usual} ms, longest ${longest} ms; ` +
        `tries that hung, never ended, switched: ${tried.join(', ')}; at most ${files} open files`,
    );
    expect(longest).toBeLessThan(BOUND_MS);
    expect(files).toBeLessThan(MOST_FILES);
    const stopped = performance.now();
    expect(await service.stop()).toBe(0);
    say(`SIGTERM while they hang: exit code 0 after ${Math.round(performance.now() - stopped)} ms`);
  } finally {
    await service.stop('SIGKILL');
    await receiver.stop();
    await database.drop();
  }
});

it('reads of others are answered while a tenant lets names be looked up that no name server answers', async () => {
  const database = await emptyDatabase();
  const service = await ChildService.start(database, {
    NODE_OPTIONS: `--require ${SILENT}`,
    MAX_WAIT_MS: '1000',
  });
  try {
    const dataSource = await database.open(serviceTables);
    const branch = await aBranch(dataSource, 11);
    const other = service.as({ tenantId: await aTenantRow(dataSource) });
    const deptId = await aDept(other);
    const creates: Promise<number>[] = [];
    const create = async (tenantId: string): Promise<number> => {
      const hook = { url: 'https://receiver.example/' };
      return (await service.as({ tenantId }).post('/system/webhook-api', hook)).status;
    };
    const took = await timesOf(
      (n) => {
        if (n % 3 === 0) creates.push(create(branch[creates.length % branch.length]!));
        return other.get(`/system/dept-api/${deptId}`);
      },
      (count) => count < 300,
    );
    const statuses = await Promise.all(creates);
    const count = (status: number) => statuses.filter((each) => each === status).length;
    say(
      `${took.length} reads beside ${creates.length} creates whose names nobody answers: median ${Math.round(median(took))} ms, ` +
        `longest ${Math.round(Math.max(...took))} ms; creates: ${count(400)} x 400, ${count(429)} x 429, ${count(503)} x 503`,
    );
    expect(count(400) + count(429)).toBe(creates.length);
  } finally {
    await service.stop('SIGKILL');
    await database.drop();
  }
});
