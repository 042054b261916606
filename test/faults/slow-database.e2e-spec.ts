import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET_MS } from '../../src/database/retry-policy';
import { SILENCE_MS } from '../../src/server/open-database';
import { aDept, mintToken, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { OpenLoad, rawRequest, type LoadReport } from '../support/load';
import { TcpProxy } from '../support/tcp-proxy';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';
const RATE = 100;
/** As by default: a request waits at most so long for its turn. */
const MAX_WAIT_MS = 2000;
/** For its turn, then for a connection, then until that is closed for its silence; and a second for a busy machine. */
const LONGEST_MS = MAX_WAIT_MS + BUDGET_MS + SILENCE_MS + 1000;

describe('a database that is slow, or hangs, under load', () => {
  let database: ThrowAwayDatabase;
  let proxy: TcpProxy;
  let service: ChildService;
  let requests: string[];

  beforeAll(async () => {
    database = await emptyDatabase();
    let url: string;
    ({ proxy, url } = await TcpProxy.before(database.url));
    service = await ChildService.start({ ...database, url }, { MAX_WAIT_MS: String(MAX_WAIT_MS) });
    const token = mintToken();
    const deptId = await aDept(service.anonymous.as(token));
    const byId = rawRequest('GET', `${PATH}/${deptId}`, token);
    const list = rawRequest('GET', `${PATH}?limit=10`, token);
    requests = [byId, list, byId, rawRequest('POST', PATH, token, { deptName: 'under a slow database' })];
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  async function flow(seconds: number): Promise<LoadReport> {
    const port = Number(new URL(service.anonymous.baseUrl).port);
    const load = new OpenLoad(port, (n) => requests[n % requests.length]!, 1000);
    await load.send(RATE, seconds * 1000);
    await load.end();
    return load.report();
  }

  async function readiness(): Promise<[number, string]> {
    const answer = await service.anonymous.get('/health/ready');
    const { checks } = JSON.parse(answer.text) as { checks: { database: string } };
    return [answer.status, checks.database];
  }

  async function untilReady(): Promise<void> {
    const begun = Date.now();
    while ((await readiness())[0] !== 200) {
      expect(Date.now() - begun).toBeLessThan(5000);
      await sleep(50);
    }
  }

  /** Every request was answered, with a success or a 503, and none later than this. */
  function judge(name: string, report: LoadReport, mostMs: number): void {
    process.stdout.write(`${name}: ${JSON.stringify(report)}\n`);
    expect(report.lost).toBe(0);
    expect(Object.keys(report.byStatus)).toEqual(['200', '503']);
    expect(Math.max(report.good.most, report.refused.most)).toBeLessThan(mostMs);
  }

  // The second one for longer than an answer may take: without a limit, what hangs with it would be answered too late.
  it.each([3000, LONGEST_MS + 4000])(
    'a database that hangs for %d ms: every answer comes in bounded time, and the service recovers',
    async (ms) => {
      const flowing = flow((ms + 6000) / 1000);
      await sleep(1000);
      proxy.frozen = true;
      await sleep(ms);
      if (ms > 4000) expect(await readiness()).toEqual([503, 'down']);
      proxy.frozen = false;
      await untilReady();
      judge(`hung ${ms} ms`, await flowing, LONGEST_MS);
      expect(Object.keys((await flow(2)).byStatus)).toEqual(['200']);
    },
  );

  it('a database that answers late: what cannot be done is refused in bounded time, probes say so, and the service recovers', async () => {
    const flowing = flow(15);
    await sleep(1000);
    proxy.delay = 2000;
    await sleep(8000);
    expect(await readiness()).toEqual([503, 'down']);
    proxy.delay = 0;
    await untilReady();
    judge('late', await flowing, 15_000);
    expect(Object.keys((await flow(2)).byStatus)).toEqual(['200']);
  });
});
