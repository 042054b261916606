import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { Chance, faultsSeed } from '../support/chance';
import { ChildService, SERVE } from '../support/child-service';
import { killWorkersOften } from '../support/crash-rounds';
import { readExposition } from '../support/exposition';
import { freePort } from '../support/free-port';
import { stopUnderLoad } from '../support/stop-rounds';
import { emptyDatabase, onServer } from '../support/test-database';
import { until } from '../support/until';

const run = promisify(execFile);

describe('workers', onServer ? ofWorkers : onFile);

function onFile(): void {
  it('tenantry serve with several workers on a SQLite file does not start', async () => {
    const { url: DATABASE_URL, folder, drop } = await emptyDatabase();
    const service = ChildService.spawn({ DATABASE_URL, WORKERS: '3', PORT: '0' }, folder, SERVE);
    expect(await service.ended()).toBe(1);
    expect(service.printed).toContain('WORKERS: must be 1 with SQLite');
    await drop();
  });
}

function ofWorkers(): void {
  let database: ThrowAwayDatabase;

  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(() => database.drop());

  /** How long the primary waits before it replaces each worker that has died. */
  const waits = ({ printed }: ChildService) =>
    [...printed.matchAll(/"waitMs":(\d+),"msg":"a worker has died"/g)].map(([, ms]) => Number(ms));

  it('a worker that dies again and again is replaced after waits that grow, while the other serves', async () => {
    const service = await ChildService.start(database, { WORKERS: '2' });
    await until(() => service.printed.includes('Database'));
    const [, steady] = service.workers;
    const api = service.as();
    for (let deaths = 1; deaths <= 5; deaths += 1) {
      await until(() => service.workers.some((pid) => pid !== steady));
      process.kill(
        service.workers.find((pid) => pid !== steady)!,
        'SIGKILL',
      );
      await until(() => waits(service).length === deaths);
      expect((await api.get('/system/dept-api')).status).toBe(200);
    }
    const found = waits(service);
    found.forEach((ms, n) => {
      expect(ms).toBeGreaterThanOrEqual(50 * 2 ** n);
      expect(ms).toBeLessThanOrEqual(100 * 2 ** n);
    });
    expect(await service.stop()).toBe(0);
  });

  it('a worker that the system cannot fork is forked later', async () => {
    const service = await ChildService.start(database, { WORKERS: '2' });
    await until(() => service.printed.includes('Database'));
    const openFiles = (limit: string) =>
      run('prlimit', ['--pid', String(service.process.pid), `--nofile=${limit}:`]);
    await openFiles('5');
    for (const pid of service.workers) process.kill(pid, 'SIGKILL');
    await until(() => service.printed.includes('a worker could not be forked'));
    await openFiles('1000');
    await until(() => service.workers.length === 2);
    await service.untilReady();
    expect(await service.stop()).toBe(0);
  });

  it('a service whose workers cannot listen does not start, says why once, and leaves no process behind', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const env = { DATABASE_URL: database.url, PORT: String(port), WORKERS: '2' };
    const service = ChildService.spawn(env, database.folder, SERVE);
    let workers: number[] = [];
    await until(() => (workers = service.process.exitCode === null ? service.workers : workers).length === 2);
    expect(await service.ended()).toBe(1);
    expect(service.printed.match(/did not start\. HOST, PORT: .*EADDRINUSE/g)).toHaveLength(1);
    await until(() => workers.every((pid) => !isAlive(pid)));
    other.close();
  });

  it('a stop kills a worker that hangs, lets the other finish, and exits with 1', async () => {
    const service = await ChildService.start(database, { WORKERS: '2' });
    await until(() => service.printed.includes('Database'));
    const workers = service.workers;
    process.kill(workers[0]!, 'SIGSTOP');
    expect(await service.stop()).toBe(1);
    expect(service.printed.match(/a worker did not stop, and is killed/g)).toHaveLength(1);
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('workers end when their primary is killed', async () => {
    const service = await ChildService.start(database, { WORKERS: '2' });
    await until(() => service.printed.includes('Database'));
    const workers = service.workers;
    await service.stop('SIGKILL');
    await until(() => !workers.some(isAlive));
  });

  it('a signal that reaches all processes of a service, as from a terminal, stops it as one to the primary does', async () => {
    const service = await ChildService.start(database, { WORKERS: '2' });
    await until(() => service.printed.includes('Database'));
    for (const pid of service.workers) process.kill(pid, 'SIGINT');
    expect((await service.as().get('/system/dept-api')).status).toBe(200);
    for (const pid of service.workers) process.kill(pid, 'SIGTERM');
    expect(await service.stop('SIGINT')).toBe(0);
  });

  /** Kills a worker, and waits until the process that replaces it is there, which needs a second to start. */
  const replaceOne = async (service: ChildService): Promise<void> => {
    await until(() => service.printed.includes('Database'));
    const before = service.workers;
    process.kill(before[0]!, 'SIGKILL');
    await until(() => service.workers.some((pid) => !before.includes(pid)));
  };

  it('a signal that reaches all processes while a worker is starting stops the service, with 0', async () => {
    const service = await ChildService.start(database, { WORKERS: '2' });
    await replaceOne(service);
    for (const pid of service.workers) process.kill(pid, 'SIGTERM');
    expect(await service.stop()).toBe(0);
  });

  it('a worker that is starting when the service is told to stop does not say that it is ready', async () => {
    const service = await ChildService.start(database, { WORKERS: '2', SHUTDOWN_DRAIN_MS: '4000' });
    await replaceOne(service);
    const stopped = service.stop();
    const seen = new Set<number>();
    await until(() => service.printed.includes('"stopping"'));
    while (service.process.exitCode === null) {
      const probe = new ApiClient(service.anonymous.baseUrl);
      await probe.get('/health/ready').then(
        ({ status }) => seen.add(status),
        () => undefined,
      );
      probe.close();
    }
    expect([...seen]).toEqual([503]);
    expect(await stopped).toBe(0);
  });

  it('a stop of two workers under load fails no request in flight, and none at all behind a balancer that asks whether it is ready', async () => {
    const { failed, doneUnread, exits } = await stopUnderLoad(database, 1, 'by hand', '2');
    expect({ failed, doneUnread, exits }).toEqual({ failed: [], doneUnread: 0, exits: [0] });
  });

  it('a worker that dies is replaced, and what it had counted stays in the sums of a scrape', async () => {
    const METRICS_PORT = String(await freePort());
    const service = await ChildService.start(database, { WORKERS: '2', METRICS_PORT });
    const metrics = new ApiClient(`http://127.0.0.1:${METRICS_PORT}`);
    const scrape = async () => readExposition((await metrics.get('/metrics')).text);
    await until(async () => (await scrape()).get('tenantry_workers') === 2);
    const api = service.as();
    await Promise.all(Array.from({ length: 20 }, () => api.get('/system/dept-api')));
    const counted = [...(await scrape())].filter(([name]) => name.startsWith('tenantry_http_request'));
    for (const pid of service.workers) process.kill(pid, 'SIGKILL');
    await until(async () => (await scrape()).get('tenantry_workers') === 0);
    await until(async () => (await scrape()).get('tenantry_workers') === 2);
    await service.untilReady();
    const after = await scrape();
    expect(after.get('tenantry_worker_deaths_total')).toBe(2);
    const isSum = ([name]: [string, number]) => name !== 'tenantry_http_requests_in_flight';
    for (const [name, value] of counted.filter(isSum)) expect([name, after.get(name)]).toEqual([name, value]);
    metrics.close();
    expect(await service.stop()).toBe(0);
  });

  it('kills of workers under write load lose and double nothing', async () => {
    await killWorkersOften(database, 3, new Chance(faultsSeed('kill -9 of workers')));
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
