import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, type ApiClient } from '../../src/server/testing';
import type { LoadReport } from '../support/load';
import { interleave, mixOfTenant } from '../support/load-mix';
import { forgetPeak, memoryMb } from '../support/process-memory';
import { aTenantRow } from '../support/seeds';
import { forTime, median, MeasuredService, say, timesOf } from './support/measured-service';

const FLOOD_S = Number(process.env.FLOOD_S ?? 60);
const TENANTS = 6;
/** Other settings for a look at what happens without the cure: SERVICE_ENV='{"MAX_IN_WORK":"100000"}'. */
const SETTINGS = JSON.parse(process.env.SERVICE_ENV ?? '{}') as Record<string, string>;
const GOODPUT = 0.75;
const ROUNDS = 24;
const FLOOD = 3;
/** Of what it can carry: at one of them it does most. */
const RATES = [0.7, 0.85, 1, 1.2];
const REFUSED_MS = 500;
/** Connections that are always busy: more than may work, and fewer than may work and wait. */
const GREEDY = 120;
const GREEDY_S = 4;
/** Below this, two times differ by what else the machine does. */
const FLOOR_MS = 15;

interface Flooded {
  /** Against that at nearly full load. */
  readonly memory: number;
  readonly flood: LoadReport;
  readonly calm: LoadReport;
  readonly calmAgain: LoadReport;
}

const nearly = (ms: number) => 1.5 * ms + FLOOR_MS;

const scaled = (rates: readonly number[], by: number) => rates.map((rate) => rate * by);

describe('more than it can carry', () => {
  const service = MeasuredService.use({ NODE_ENV: 'production', ...SETTINGS });
  let mixes: string[][];
  let others: { client: ApiClient; path: string }[];

  beforeAll(async () => {
    mixes = [];
    for (let n = 0; n < TENANTS; n += 1) mixes.push(await mixOfTenant(service.child, service.dataSource, 4));
    others = [];
    for (let n = 1; n < TENANTS; n += 1) {
      const client = service.child.as({ tenantId: await aTenantRow(service.dataSource) });
      others.push({ client, path: `/system/dept-api/${await aDept(client)}` });
    }
    // Compiles the code and fills the pool.
    await closed(12);
  });
  function closed(seconds: number): Promise<number> {
    return service.load.run('closed', service.port, interleave(mixes), seconds);
  }

  async function steady(rate: number, seconds: number): Promise<LoadReport> {
    const [report] = await service.load.run(
      'open',
      service.port,
      [{ requests: interleave(mixes), rate }],
      seconds,
    );
    return report!;
  }

  function doneAt(rates: readonly number[], rounds: number): Promise<number[]> {
    const requests = interleave(mixes);
    return service.load.run(
      'turns',
      service.port,
      rates.map((rate) => ({ requests, rate })),
      rounds,
    );
  }

  /** What it can carry, in many short turns. A few seconds of a closed load may be the fastest ones of this machine. */
  async function capacity(): Promise<number> {
    const estimate = await closed(6);
    return Math.max(...(await doneAt(scaled(RATES, estimate), 6)));
  }

  /** What is done of three times as much as it can carry, as a part of the peak: the most that is done at any rate. */
  async function goodput(): Promise<number> {
    const rates = scaled([...RATES, FLOOD], await capacity());
    const done = await doneAt(rates, ROUNDS);
    const part = done.at(-1)! / Math.max(...done.slice(0, -1));
    const told = rates.map((rate, at) => `${rate.toFixed(0)}: ${done[at]!.toFixed(0)}`).join(', ');
    say(`asked and done a second: ${told}; ${(100 * part).toFixed(0)} % of the peak`);
    return part;
  }

  it('a service that is asked for three times what it can carry does nearly as much as it can', async () => {
    expect(await goodput()).toBeGreaterThanOrEqual(GOODPUT);
  });

  async function flooded(): Promise<Flooded> {
    const { pid } = service;
    const peak = await capacity();
    // What it has at nearly all that it can carry, from as many connections.
    forgetPeak(pid);
    await steady(0.9 * peak, 8);
    const memoryBefore = memoryMb(pid, 'VmHWM');
    const calm = await steady(peak / 4, 4);
    forgetPeak(pid);
    const flood = await steady(FLOOD * peak, FLOOD_S);
    const memory = memoryMb(pid, 'VmHWM') / memoryBefore;
    await sleep(5000);
    const calmAgain = await steady(peak / 4, 4);
    say(
      `asked ${(FLOOD * peak).toFixed(0)}/s for ${FLOOD_S} s, memory ${memory.toFixed(2)} times; ` +
        JSON.stringify({ flood, calm, calmAgain }),
    );
    return { memory, flood, calm, calmAgain };
  }

  it('a long flood is refused quickly where it cannot be carried, and the service is itself again at once', async () => {
    const { memory, flood, calm, calmAgain } = await flooded();
    expect(Object.keys(flood.byStatus).sort()).toEqual(['200', '503']);
    expect([flood.lost, flood.unsent]).toEqual([0, 0]);
    expect(flood.refused.p99).toBeLessThan(REFUSED_MS);
    expect(memory).toBeLessThan(1.3);
    expect(calmAgain.byStatus).toEqual({ 200: calmAgain.good.count });
    expect(calmAgain.good.p99).toBeLessThan(nearly(calm.good.p99));
  });

  /** How long others wait for each of their reads, one after the other; a refusal fails. */
  async function readsOfOthers(milliseconds: number): Promise<number> {
    const read = (n: number) => {
      const { client, path } = others[n % others.length]!;
      return client.get(path);
    };
    return median(await timesOf(read, forTime(milliseconds)));
  }

  it('a greedy tenant waits for itself, and no other is refused or waits as long', async () => {
    const alone = await readsOfOthers(2000);
    const parts: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const flood = service.load.run('flood', service.port, mixes[0]!, GREEDY, GREEDY_S + 1);
      await sleep(1000);
      const beside = await readsOfOthers((GREEDY_S - 1) * 1000);
      // As many as there are connections are always under way, so this is how long each takes.
      const own = (1000 * GREEDY) / (await flood);
      say(
        `others: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside it; it itself: ${own.toFixed(0)} ms`,
      );
      parts.push(beside / own);
    }
    expect(median(parts)).toBeLessThan(1 / 2);
  });
});
