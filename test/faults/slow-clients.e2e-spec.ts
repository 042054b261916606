import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { aDept, mintToken, type ThrowAwayDatabase } from '../../src/server/testing';
import { Chance, faultsSeed } from '../support/chance';
import { ChildService } from '../support/child-service';
import { load, wire, type StreamReport } from '../support/load';
import { fillWithDepts } from '../support/many-depts';
import { memoryMb } from '../support/process-memory';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';

describe('clients that are slow, or leave', () => {
  let database: ThrowAwayDatabase;
  let dataSource: DataSource;
  let service: ChildService;
  let port: number;
  let path: string;
  const token = mintToken();

  beforeAll(async () => {
    database = await emptyDatabase();
    service = await ChildService.start(database);
    dataSource = await database.open();
    port = Number(new URL(service.anonymous.baseUrl).port);
    path = `${PATH}/${await aDept(service.anonymous.as(token))}`;
    await fillWithDepts(dataSource, '000000', 100_000);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  async function others(seconds: number): Promise<StreamReport> {
    const requests = [wire(token, 'GET', path)];
    const report = await load({
      mode: 'open',
      port,
      streams: [{ name: 'others', requests, rate: 200 }],
      connections: 64,
      seconds,
    });
    return report.streams.others!;
  }

  /** Sockets that send this and then nothing more, or a byte of something every second. */
  function sluggards(count: number, text: string, drip = ''): { sockets: Socket[]; open: () => number } {
    let open = count;
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      const timer = setInterval(() => drip && socket.writable && socket.write(drip), 1000);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
        open -= 1;
      });
      return socket;
    });
    return { sockets, open: () => open };
  }

  async function untilGone({ open }: { open: () => number }, ms: number): Promise<number> {
    const begun = Date.now();
    while (open() > 0) {
      expect([open() === 0, Date.now() - begun < ms]).toContain(true);
      await sleep(100);
    }
    return Date.now() - begun;
  }

  it.each([
    ['never end their headers', 'GET / HTTP/1.1\r\nHost: x\r\n', 'x', 15_000],
    ['say nothing at all', '', '', 15_000],
    [
      'never end their bodies',
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
      ' ',
      65_000,
    ],
    [
      'never end bodies that nobody reads',
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
      ' ',
      65_000,
    ],
  ])('500 that %s: others are served as ever, and they are closed', async (_, text, drip, ms) => {
    const before = await others(4);
    const slow = sluggards(500, text, drip);
    const during = await others(4);
    slow.sockets.forEach((socket) => socket.resume());
    const gone = await untilGone(slow, ms);
    process.stdout.write(
      `p99 ${before.good.p99.toFixed(1)} ms alone, ${during.good.p99.toFixed(1)} ms beside; closed after ${gone} ms\n`,
    );
    expect(during.byStatus).toEqual({ 200: 800 });
    expect(during.good.p50).toBeLessThan(3 * before.good.p50 + 20);
    expect(during.good.p99).toBeLessThan(3 * before.good.p99 + 250);
  });

  it('six that start an export and do not read it hold no connection of the database', async () => {
    const ask = wire(token, 'GET', `${PATH}/export`);
    const slow = sluggards(6, ask);
    slow.sockets.forEach((socket) => socket.pause());
    // Until what the system buffers for them is full.
    await sleep(10_000);
    const during = await others(3);
    expect(during.byStatus).toEqual({ 200: 600 });
    expect(await busyConnections()).toEqual([]);
    slow.sockets.forEach((socket) => socket.destroy());
    await untilGone(slow, 5000);
  });

  it('2,000 that leave in the midst leave the pool whole and nothing behind', async () => {
    const random = new Chance(faultsSeed('clients that leave'));
    const asked = [
      wire(token, 'GET', path),
      wire(token, 'POST', PATH, { deptName: 'of one who left' }),
      wire(token, 'GET', `${PATH}?limit=100`),
      wire(token, 'GET', `${PATH}/tree?depth=1`),
      wire(token, 'GET', `${PATH}/export`),
    ];
    await others(3);
    const before = memoryMb(service.process.pid!, 'VmRSS');
    const leave = (n: number) =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(asked[n % asked.length]!);
          setTimeout(() => socket.destroy(), random.next() * 60);
        });
        socket.on('error', () => undefined);
        socket.on('close', () => {
          resolve();
        });
      });
    for (let n = 0; n < 2000; n += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => leave(n + k)));
    // What was begun is finished: trees and pages of a hundred thousand.
    const giveUp = Date.now() + 20_000;
    for (;;) {
      const left = [...(await busyConnections()), ...(await openTransactions())];
      if (left.length === 0) break;
      if (Date.now() > giveUp) expect(left).toEqual([]);
      await sleep(100);
    }
    // More at once than the pool has connections: each of them must be good.
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => service.anonymous.as(token).get(n % 2 ? path : `${PATH}?limit=5`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
    const after = await others(3);
    const memory = memoryMb(service.process.pid!, 'VmRSS');
    process.stdout.write(`memory ${before.toFixed(0)} MB before, ${memory.toFixed(0)} MB after\n`);
    expect(after.byStatus).toEqual({ 200: 600 });
    expect(memory).toBeLessThan(1.3 * Math.max(before, 200));
  });

  function openTransactions(): Promise<unknown[]> {
    return dataSource.query(
      'SELECT trx_id, trx_state, trx_query, trx_mysql_thread_id FROM information_schema.innodb_trx',
    );
  }

  /** Connections of the service that run a statement. */
  async function busyConnections(): Promise<unknown[]> {
    return dataSource.query(
      `SELECT id, command, info FROM information_schema.processlist
       WHERE db = DATABASE() AND command <> 'Sleep' AND id <> CONNECTION_ID()`,
    );
  }
});
