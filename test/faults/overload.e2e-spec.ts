import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, mintToken, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { OpenLoad, quantile, type LoadRequest } from '../support/open-load';
import { forgetPeak, memoryMb } from '../support/process-memory';
import { aTenantRow } from '../support/seeds';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';
const TENANTS = 6;
const FLOOD_MS = 20_000;
const FLOOD = 3;
/** As by default: a request that has waited longer for its turn is refused. */
const MAX_WAIT_MS = 2000;

const print = (what: string, report: object) => process.stdout.write(`${what}: ${JSON.stringify(report)}\n`);

describe('more load than the service can carry', () => {
  let database: ThrowAwayDatabase;
  let service: ChildService;
  /** Of each tenant: of ten requests eight for a department by its id, one for a list, and one that makes a department. */
  const mixes: LoadRequest[][] = [];

  beforeAll(async () => {
    database = await emptyDatabase();
    service = await ChildService.start(database, {
      NODE_ENV: 'production',
      MAX_WAIT_MS: String(MAX_WAIT_MS),
    });
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
    await database.drop();
  });

  function loadOf(): OpenLoad {
    const all = mixes[0]!.flatMap((_, at) => mixes.map((mix) => mix[at]!));
    return new OpenLoad(service.anonymous.baseUrl, (n) => all[n % all.length]!, 512);
  }
  async function peak(): Promise<number> {
    const load = loadOf();
    const rate = await load.peak(48, 6000);
    await load.end();
    return rate;
  }
  async function during(rate: number, milliseconds: number): Promise<OpenLoad> {
    const load = loadOf();
    await load.send(rate, milliseconds);
    await load.end();
    return load;
  }
  const statusesOf = ({ times }: OpenLoad) => Object.keys(times);

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
    expect(refusedMs).toBeLessThan(1.25 * MAX_WAIT_MS);
    // The clients run on this machine too; what they take, the service has not.
    expect(goodput).toBeGreaterThan(0.5);
    expect(memory).toBeLessThan(1.3);
    await sleep(2000);
    expect(statusesOf(await during(most / 4, 4000))).toEqual(['200']);
  });
});
