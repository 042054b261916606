import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { ThrowAwayDatabase } from '../../src/testing';
import { ChildService } from '../support/child-service';
import { load, type LoadReport, type Stream, type StreamReport } from '../support/load';
import { interleave, mixOfTenant } from '../support/load-mix';
import { memoryMb } from '../support/process-memory';
import { emptyDatabase } from '../support/test-database';

const FLOOD_S = Number(process.env.FLOOD_S ?? 60);
const TENANTS = 6;
const CONNECTIONS = 512;
/** Other settings for a look at what happens without the cure: SERVICE_ENV='{"MAX_IN_WORK":"100000"}'. */
const SETTINGS = JSON.parse(process.env.SERVICE_ENV ?? '{}') as Record<string, string>;
/** Below this, two times differ by what else the machine does. */
const FLOOR_MS = 15;

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const say = (text: string) => process.stdout.write(`${text}\n`);

describe('more than it can carry', () => {
  let database: ThrowAwayDatabase;
  let dataSource: DataSource;
  let service: ChildService;
  let port: number;
  let mixes: string[][];

  beforeAll(async () => {
    database = await emptyDatabase();
    service = await ChildService.start(database, { NODE_ENV: 'production', ...SETTINGS });
    dataSource = await database.open();
    port = Number(new URL(service.anonymous.baseUrl).port);
    mixes = [];
    for (let n = 0; n < TENANTS; n += 1) mixes.push(await mixOfTenant(service, dataSource, 4));
    // Compiles the code and fills the pool.
    await closed(4);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  /** Answers a second, each connection asking anew when it has its answer. */
  async function closed(seconds: number): Promise<number> {
    const streams = [{ name: 'all', requests: interleave(mixes) }];
    const report = await load({ mode: 'closed', port, streams, connections: 48, seconds });
    return report.streams.all!.good.count / report.seconds;
  }

  function open(streams: readonly Stream[], seconds: number): Promise<LoadReport> {
    return load({ mode: 'open', port, streams, connections: CONNECTIONS, seconds });
  }

  async function steady(rate: number, seconds: number): Promise<StreamReport> {
    const report = await open([{ name: 'all', requests: interleave(mixes), rate }], seconds);
    return report.streams.all!;
  }

  it('three times as much: does what it can, refuses the rest quickly, and is itself again at once', async () => {
    const pid = service.process.pid!;
    const before = await closed(6);
    // What it has at nearly all that it can carry, from as many connections.
    await steady(0.9 * before, 8);
    const memoryBefore = memoryMb(pid, 'VmHWM');
    const calm = await steady(before / 4, 4);
    const flood = await steady(3 * before, FLOOD_S);
    const memory = memoryMb(pid, 'VmHWM');
    await sleep(5000);
    const calmAgain = await steady(before / 4, 4);
    // The machine may have become faster or slower meanwhile.
    const peak = (before + (await closed(6))) / 2;
    const goodput = flood.good.count / FLOOD_S;
    say(
      `peak ${peak.toFixed(0)}/s, asked ${(3 * before).toFixed(0)}/s, done ${goodput.toFixed(0)}/s ` +
        `(${((100 * goodput) / peak).toFixed(0)} %), memory ${memoryBefore.toFixed(0)} -> ${memory.toFixed(0)} MB; ` +
        JSON.stringify({ flood, calm, calmAgain }),
    );
    expect(Object.keys(flood.byStatus).sort()).toEqual(['200', '503']);
    expect([flood.errors, flood.unsent]).toEqual([0, 0]);
    expect(goodput).toBeGreaterThan(0.8 * peak);
    expect(flood.refused.p99).toBeLessThan(1500);
    expect(memory).toBeLessThan(1.3 * memoryBefore);
    expect(calmAgain.byStatus).toEqual({ 200: calmAgain.good.count });
    expect(calmAgain.good.p99).toBeLessThan(1.5 * calm.good.p99 + FLOOR_MS);
  });

  it('one tenant ten times as much: the others hardly notice', async () => {
    const peak = await closed(6);
    const rate = peak / 15;
    const others = (factor: number): Stream[] => [
      { name: 'others', requests: interleave(mixes.slice(1)), rate: (TENANTS - 1) * rate },
      { name: 'one', requests: mixes[0]!, rate: factor * rate },
    ];
    const rounds = [];
    for (let n = 0; n < 5; n += 1) {
      const alone = await open(others(1), 4);
      const beside = await open(others(10), 4);
      rounds.push({ alone: alone.streams.others!, beside: beside.streams.others!, one: beside.streams.one! });
    }
    const alone = median(rounds.map((round) => round.alone.good.p99));
    const beside = median(rounds.map((round) => round.beside.good.p99));
    say(
      `p99 of the others ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside; ${JSON.stringify(rounds)}`,
    );
    expect(beside).toBeLessThan(1.5 * alone + FLOOR_MS);
    for (const round of rounds) {
      const refused = round.beside.refused.count / (round.beside.refused.count + round.beside.good.count);
      expect(refused).toBeLessThan(0.01);
    }
  });
});
