import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, mintToken, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { OpenLoad, quantile, type LoadRequest } from '../support/open-load';
import { forgetPeak, memoryMb } from '../support/process-memory';
import { aTenantRow } from '../support/seeds';
import { TcpProxy } from '../support/tcp-proxy';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';
const TENANTS = 6;
const FLOOD_MS = 20_000;
const FLOOD = 3;
const REFUSED_MS = 500;
/** A light load. */
const RATE = 100;

const print = (what: string, report: object) => process.stdout.write(`${what}: ${JSON.stringify(report)}\n`);

describe('more load than the service can carry, or a database that is slow', () => {
  let database: ThrowAwayDatabase;
  let proxy: TcpProxy;
  let service: ChildService;
  /** Of each tenant: of ten requests eight for a department by its id, one for a list, and one that makes a department. */
  const mixes: LoadRequest[][] = [];

  beforeAll(async () => {
    database = await emptyDatabase();
    const through = await TcpProxy.before(database.url);
    proxy = through.proxy;
    service = await ChildService.start({ ...database, url: through.url }, { NODE_ENV: 'production' });
    const dataSource = await database.open();
    for (let n = 0; n < TENANTS; n += 1) {
      const token = mintToken({ tenantId: await aTenantRow(dataSource) });
      const read = { token, path: `${PATH}/${await aDept(service.anonymous.as(token))}` };
      const reads = Array.from({ length: 8 }, () => read);
      const body = { deptName: 'one more' };
      mixes.push([...reads, { token, path: `${PATH}?limit=20` }, { token, path: PATH, body }]);
    }
    // Compiles the code and fills the pool.
    await peak();
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  function loadOf(tenants: readonly LoadRequest[][] = mixes): OpenLoad {
    const all = tenants[0]!.flatMap((_, at) => tenants.map((mix) => mix[at]!));
    return new OpenLoad(service.anonymous.baseUrl, (n) => all[n % all.length]!, 512);
  }
  async function peak(): Promise<number> {
    const load = loadOf();
    const rate = await load.peak(48, 6000);
    await load.end();
    return rate;
  }
  async function during(rate: number, milliseconds: number, tenants = mixes): Promise<OpenLoad> {
    const load = loadOf(tenants);
    await load.send(rate, milliseconds);
    await load.end();
    return load;
  }
  const statusesOf = ({ times }: OpenLoad) => Object.keys(times);
  const readiness = async () => {
    const { status, text } = await service.anonymous.get('/health/ready');
    return [status, (JSON.parse(text) as { checks: { database: string } }).checks.database];
  };

  it('three times as much: refuses the rest quickly, does most of its work, and recovers at once', async () => {
    const most = await peak();
    forgetPeak(service.process.pid!);
    await during(0.9 * most, 8000);
    const before = memoryMb(service.process.pid!, 'VmHWM');
    const flood = await during(FLOOD * most, FLOOD_MS);
    const memory = memoryMb(service.process.pid!, 'VmHWM') / before;
    const goodput = (flood.answered * 1000) / FLOOD_MS / most;
    const refusedMs = quantile(flood.times[503]);
    print('flood', { most, goodput, memory, refusedMs, refused: flood.times[503]?.length });
    expect([statusesOf(flood), flood.broken, flood.refused]).toEqual([['200', '503'], [], 0]);
    expect(refusedMs).toBeLessThan(REFUSED_MS);
    // The clients run on this machine too; what they take, the service has not.
    expect(goodput).toBeGreaterThan(0.5);
    expect(memory).toBeLessThan(1.3);
    await sleep(2000);
    expect(statusesOf(await during(most / 4, 4000))).toEqual(['200']);
  });

  it('ten times as much from one tenant: the others are not refused', async () => {
    const rate = (await peak()) / 30;
    const [others] = await Promise.all([
      during((TENANTS - 1) * rate, 8000, mixes.slice(1)),
      during(10 * rate, 8000, mixes.slice(0, 1)),
    ]);
    print('others', { p99: quantile(others.times[200]) });
    expect(statusesOf(others)).toEqual(['200']);
  });

  it.each([
    ['hangs for 3 s', 3000, 'frozen', 5500],
    ['hangs for 10 s', 10_000, 'frozen', 5500],
    ['answers 2 s late', 8000, 'delay', 15_000],
  ] as const)(
    'a database that %s: answers come in bounded time, and it recovers',
    async (name, ms, how, bound) => {
      const load = loadOf();
      const sending = load.send(RATE);
      await sleep(1000);
      Object.assign(proxy, how === 'frozen' ? { frozen: true } : { delay: 2000 });
      await sleep(ms);
      if (ms > 4000) expect(await readiness()).toEqual([503, expect.stringMatching(/^(slow|down)$/)]);
      Object.assign(proxy, { frozen: false, delay: 0 });
      const since = Date.now();
      while ((await readiness())[0] !== 200 && Date.now() - since < 5000) await sleep(50);
      expect((await readiness())[0]).toBe(200);
      await load.end();
      await sending;
      const slowest = Math.max(...Object.values(load.times).map((times) => quantile(times, 1)));
      print(name, { slowest, statuses: statusesOf(load) });
      expect([statusesOf(load), load.broken]).toEqual([['200', '503'], []]);
      expect(slowest).toBeLessThan(bound);
      expect(statusesOf(await during(RATE, 2000))).toEqual(['200']);
    },
  );
});
