import { join } from 'node:path';
import { ApiClient } from '../../src/testing/api-client';
import { TEST_SECRET } from '../../src/server/testing';
import { readExposition } from '../../test/support/exposition';
import { freePort } from '../../test/support/free-port';
import { closedLoad, rawRequest } from '../../test/support/load';
import type { Bed } from '../support/bed';
import { interleave, ratiosOf, show, spreadOf } from '../support/figures';
import type { Measure, Result } from '../support/result';
import { ServerProcess } from '../support/server-process';
import { fillTenants, type Caller } from '../support/world';

const SERVICE = join(__dirname, '..', '..', 'dist', 'server', 'main.js');
const OUT_OF_REACH = '999999999';
const CONNECTIONS = 64;
const ROUNDS = 5;
const ROUND_MS = 2000;
const BOUND = 1.6;

/**
 * What two workers carry of reads by id, against one process. Here they share two cores with the database and the load, so the bound is
 * on what two cores would carry by the CPU of all processes of the service; requests a second are only reported.
 */
export const workers: Measure = {
  name: 'workers',
  async run(bed) {
    const callers = await fillTenants(await bed.dataSource(), { tenants: 100, depts: 100 });
    const one = await SideOfWorkers.start(bed, callers, 1);
    const two = await SideOfWorkers.start(bed, callers, 2);
    for (const side of [one, two]) await side.read();
    await interleave([() => one.read(), () => two.read()], ROUNDS);
    for (const side of [one, two]) await side.stop();
    const [slow, fast] = [one.rounds.slice(1), two.rounds.slice(1)];
    const microseconds = (side: typeof slow) => side.map(({ cpuMs, requests }) => (1000 * cpuMs) / requests);
    const rates = (side: typeof slow) => side.map(({ requests, ms }) => (1000 * requests) / ms);
    const byCpu = 2 * ratiosOf(microseconds(slow), microseconds(fast)).median;
    const byClock = ratiosOf(rates(fast), rates(slow)).median;
    return [
      result(
        'Reads by id on two cores, by the CPU that they cost: two workers',
        byCpu,
        BOUND,
        `${show(spreadOf(microseconds(fast)), 'µs')} with two, ${show(spreadOf(microseconds(slow)), 'µs')} with one`,
      ),
      result(
        'Reads by id a second, beside the database and the load on the same cores: two workers',
        byClock,
        null,
        `${show(spreadOf(rates(fast)), 'a second')} with two, ${show(spreadOf(rates(slow)), 'a second')} with one`,
      ),
    ];
  },
};

function result(work: string, ratio: number, bound: number | null, details: string): Result {
  return {
    ...{ work, baseline: 'one process', figure: `${ratio.toFixed(2)} ×`, details },
    bound: bound === null ? '' : `≥ ${bound} ×`,
    ok: bound === null ? null : ratio >= bound,
  };
}

interface Round {
  readonly requests: number;
  readonly ms: number;
  readonly cpuMs: number;
}

/** The service with so many workers. */
class SideOfWorkers {
  readonly rounds: Round[] = [];

  private constructor(
    private readonly server: ServerProcess,
    private readonly metrics: ApiClient,
    private readonly callers: readonly Caller[],
    private readonly count: number,
  ) {}

  static async start(bed: Bed, callers: readonly Caller[], count: number): Promise<SideOfWorkers> {
    const { url: DATABASE_URL, folder: DATA_DIR } = await bed.database();
    const METRICS_PORT = String(await freePort());
    const server = await ServerProcess.start(SERVICE, {
      ...{ DATABASE_URL, DATA_DIR, METRICS_PORT, JWT_SECRET: TEST_SECRET, ADMIN_PASSWORD: 'admin-password' },
      ...{ WORKERS: String(count), MAX_WAIT_MS: '60000', RATE_LIMIT_USER: OUT_OF_REACH },
    });
    const side = new SideOfWorkers(server, new ApiClient(`http://127.0.0.1:${METRICS_PORT}`), callers, count);
    while ((await side.#scrape()).get('tenantry_workers') !== count);
    return side;
  }

  /** Reads for some time; gives how many milliseconds of CPU it took. */
  async read(): Promise<number> {
    const { port } = this.server;
    const request = (_: number, n: number): string => {
      const { token = '', firstDept = 0, depts = 1 } = this.callers[n % this.callers.length] ?? {};
      return rawRequest('GET', `/system/dept-api/${firstDept + (n % depts)}`, token);
    };
    const before = await this.#cpuMs();
    const begun = performance.now();
    const requests = (): boolean => performance.now() - begun < ROUND_MS;
    const took = await closedLoad({ port, connections: CONNECTIONS, requests, request });
    const ms = performance.now() - begun;
    const cpuMs = (await this.#cpuMs()) - before;
    this.rounds.push({ requests: took.length, ms, cpuMs });
    return cpuMs;
  }

  async stop(): Promise<void> {
    this.metrics.close();
    await this.server.stop();
  }

  /** Of all processes: workers tell their own. */
  async #cpuMs(): Promise<number> {
    const ofWorkers = (await this.#scrape()).get('process_cpu_seconds_total') ?? 0;
    return this.server.cpuMs() + (this.count > 1 ? 1000 * ofWorkers : 0);
  }

  async #scrape(): Promise<Map<string, number>> {
    return readExposition((await this.metrics.get('/metrics')).text);
  }
}
