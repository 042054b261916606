import { join } from 'node:path';
import { ApiClient } from '../../src/testing/api-client';
import { TEST_SECRET } from '../../src/server/testing';
import { readExposition } from '../../test/support/exposition';
import { freePort } from '../../test/support/free-port';
import { closedLoad, rawRequest } from '../../test/support/load';
import type { Bed } from '../support/bed';
import { interleave, ratiosOf, show, spreadOf } from '../support/figures';
import { ratioResult, type Measure, type Result } from '../support/result';
import { ServerProcess } from '../support/server-process';
import { fillTenants, type Caller } from '../support/world';

const SERVICE = join(__dirname, '..', '..', 'dist', 'server', 'main.js');
const OUT_OF_REACH = '999999999';
const CONNECTIONS = 64;
const ROUNDS = 5;
/** Requests: until all code is compiled in each process, and in a round. */
const WARM_UP = 10_000;
const REQUESTS = 3000;
/** Two processes that share nothing carry twice as much as one. With this a request, workers carry 1.6 times as much. */
const BOUND = 1.25;

/**
 * What a read by id costs with two workers, in all processes of the service, against two replicas, which share nothing. Both keep the
 * same two cores busy, beside the database and the load, so the ratio holds on a busy machine. Requests a second are only reported.
 */
export const workers: Measure = {
  name: 'workers',
  async run(bed) {
    const callers = await fillTenants(await bed.dataSource(), { tenants: 100, depts: 100 });
    const one = await Side.start(bed, callers, { replicas: 1, workers: 1 });
    const replicas = await Side.start(bed, callers, { replicas: 2, workers: 1 });
    const two = await Side.start(bed, callers, { replicas: 1, workers: 2 });
    const sides = [one, replicas, two];
    for (const side of sides) await side.read(WARM_UP);
    for (const side of sides) side.rounds.splice(0);
    await interleave(
      sides.map((side) => () => side.read(REQUESTS)),
      ROUNDS,
    );
    for (const side of sides) await side.stop();
    const costs = ratioResult(
      { work: 'A read by id with two workers, CPU of all processes', baseline: 'two replicas', bound: BOUND },
      two.microseconds,
      replicas.microseconds,
      'µs',
    );
    return [costs, rateOf('two workers', two, one), rateOf('two replicas', replicas, one)];
  },
};

function rateOf(name: string, side: Side, one: Side): Result {
  return {
    work: `Reads by id a second of ${name}, beside the database and the load on the same cores`,
    baseline: 'one process',
    figure: `${ratiosOf(side.rates, one.rates).median.toFixed(2)} ×`,
    ...{ bound: '', ok: null },
    details: `${show(spreadOf(side.rates), 'a second')} against ${show(spreadOf(one.rates), 'a second')}`,
  };
}

/** Processes that share the load. */
class Side {
  readonly rounds: { readonly requests: number; readonly ms: number; readonly cpuMs: number }[] = [];

  private constructor(
    private readonly servers: readonly ServerProcess[],
    private readonly metrics: ApiClient,
    private readonly callers: readonly Caller[],
    private readonly workers: number,
  ) {}

  static async start(
    bed: Bed,
    callers: readonly Caller[],
    { replicas, workers }: { replicas: number; workers: number },
  ): Promise<Side> {
    const { url: DATABASE_URL, folder: DATA_DIR } = await bed.database();
    const ports = [await freePort(), await freePort()].slice(0, replicas);
    const servers: ServerProcess[] = [];
    for (const METRICS_PORT of ports.map(String))
      servers.push(
        await ServerProcess.start(SERVICE, {
          ...{ DATABASE_URL, DATA_DIR, JWT_SECRET: TEST_SECRET, ADMIN_PASSWORD: 'admin-password' },
          ...{ METRICS_PORT, WORKERS: String(workers), MAX_WAIT_MS: '60000', RATE_LIMIT_USER: OUT_OF_REACH },
        }),
      );
    const side = new Side(servers, new ApiClient(`http://127.0.0.1:${ports[0]}`), callers, workers);
    while ((await side.#scrape()).get('tenantry_workers') !== workers);
    return side;
  }

  get microseconds(): number[] {
    return this.rounds.map(({ cpuMs, requests }) => (1000 * cpuMs) / requests);
  }

  get rates(): number[] {
    return this.rounds.map(({ requests, ms }) => (1000 * requests) / ms);
  }

  /** Gives how many milliseconds of CPU so many reads took. */
  async read(requests: number): Promise<number> {
    const request = (_: number, n: number): string => {
      const { token = '', firstDept = 0, depts = 1 } = this.callers[n % this.callers.length] ?? {};
      return rawRequest('GET', `/system/dept-api/${firstDept + (n % depts)}`, token);
    };
    const parts = this.servers.length;
    const share = { requests: requests / parts, connections: CONNECTIONS / parts };
    const before = await this.#cpuMs();
    const begun = performance.now();
    await Promise.all(this.servers.map(({ port }) => closedLoad({ port, ...share, request })));
    const ms = performance.now() - begun;
    const cpuMs = (await this.#cpuMs()) - before;
    this.rounds.push({ requests, ms, cpuMs });
    return cpuMs;
  }

  async stop(): Promise<void> {
    this.metrics.close();
    for (const server of this.servers) await server.stop();
  }

  /** Of all processes; workers tell their own. */
  async #cpuMs(): Promise<number> {
    const started = this.servers.reduce((sum, server) => sum + server.cpuMs(), 0);
    if (this.workers === 1) return started;
    return started + 1000 * ((await this.#scrape()).get('process_cpu_seconds_total') ?? 0);
  }

  async #scrape(): Promise<Map<string, number>> {
    return readExposition((await this.metrics.get('/metrics')).text);
  }
}
