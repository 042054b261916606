import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, mintToken, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { load, wire, type LoadReport } from '../support/load';
import { TcpProxy } from '../support/tcp-proxy';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';
const RATE = 100;

describe('a database that is slow, or hangs, under load', () => {
  let database: ThrowAwayDatabase;
  let proxy: TcpProxy;
  let service: ChildService;
  let requests: string[];

  beforeAll(async () => {
    database = await emptyDatabase();
    const url = new URL(database.url);
    proxy = await TcpProxy.to(url.hostname, Number(url.port || 3306));
    url.host = `127.0.0.1:${proxy.port}`;
    // As by default: a request waits at most so long for its turn.
    service = await ChildService.start({ ...database, url: url.href }, { MAX_WAIT_MS: '2000' });
    const token = mintToken();
    const deptId = await aDept(service.anonymous.as(token));
    requests = [
      wire(token, 'GET', `${PATH}/${deptId}`),
      wire(token, 'GET', `${PATH}?limit=10`),
      wire(token, 'GET', `${PATH}/${deptId}`),
      wire(token, 'POST', PATH, { deptName: 'under a slow database' }),
    ];
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  function flow(seconds: number): Promise<LoadReport> {
    const port = Number(new URL(service.anonymous.baseUrl).port);
    return load({
      mode: 'open',
      port,
      streams: [{ name: 'all', requests, rate: RATE }],
      connections: 1000,
      seconds,
    });
  }

  async function readiness(): Promise<[number, string]> {
    const answer = await service.anonymous.get('/health/ready');
    const { checks } = JSON.parse(answer.text) as { checks: { database: string } };
    return [answer.status, checks.database];
  }

  async function untilReady(): Promise<number> {
    const begun = Date.now();
    while ((await readiness())[0] !== 200) {
      expect(Date.now() - begun).toBeLessThan(5000);
      await sleep(50);
    }
    return Date.now() - begun;
  }

  const whole = ({ streams }: LoadReport) => streams.all!;

  it.each([3000, 10_000])(
    'hangs for %d ms: every answer comes in bounded time, and it recovers',
    async (ms) => {
      const flowing = flow((ms + 6000) / 1000);
      await sleep(1000);
      proxy.frozen = true;
      await sleep(ms);
      if (ms > 4000) expect(await readiness()).toEqual([503, 'down']);
      proxy.frozen = false;
      const recovered = await untilReady();
      const { byStatus, errors, unsent, good, refused } = whole(await flowing);
      process.stdout.write(
        `hung ${ms} ms: ready after ${recovered} ms, ${JSON.stringify({ byStatus, good, refused })}\n`,
      );
      expect([errors, unsent, Object.keys(byStatus).sort()]).toEqual([0, 0, ['200', '503']]);
      // Five seconds until a silent connection is closed, and what the request waited for before it had one.
      expect(Math.max(good.most, refused.most)).toBeLessThan(9500);
      const after = whole(await flow(2));
      expect(after.byStatus).toEqual({ 200: 2 * RATE });
    },
  );

  it('answers late: what cannot be done is refused in bounded time, probes say so, and it recovers', async () => {
    const flowing = flow(15);
    await sleep(1000);
    proxy.delay = 2000;
    await sleep(8000);
    expect(await readiness()).toEqual([503, 'down']);
    proxy.delay = 0;
    const recovered = await untilReady();
    const { byStatus, errors, unsent, good, refused } = whole(await flowing);
    process.stdout.write(
      `late: ready after ${recovered} ms, ${JSON.stringify({ byStatus, good, refused })}\n`,
    );
    expect([errors, unsent, Object.keys(byStatus).sort()]).toEqual([0, 0, ['200', '503']]);
    expect(refused.most).toBeLessThan(15_000);
    expect(whole(await flow(2)).byStatus).toEqual({ 200: 2 * RATE });
  });
});
