import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, mintToken, type ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { rawRequest } from '../support/load';
import { LoadProcess } from '../support/load-process';
import { emptyDatabase } from '../support/test-database';

const CONNECTIONS = 300;
const SECONDS = 4;
const WARM_MS = 1000;
const ROUNDS = 3;
/** Below this, two times differ by what else the machine does. */
const FLOOR_MS = 15;
const PATH = '/system/dept-api';

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Of the form of a token, signed by somebody else. */
const forged = Array.from({ length: 50 }, (_, n) =>
  mintToken({ username: `nobody-${n}` }, `another-secret-of-at-least-32-bytes-${n}`),
);
/** All connections send these requests as fast as they are answered. */
const FLOODS: Readonly<Record<string, readonly string[]>> = {
  'unknown paths': Array.from({ length: 50 }, (_, n) => rawRequest('GET', `/nowhere/${n}`, 'x')),
  'forged tokens': forged.map((token) => rawRequest('GET', `${PATH}/1`, token)),
  'junk instead of tokens': Array.from({ length: 50 }, (_, n) => rawRequest('GET', `${PATH}/1`, `junk-${n}`)),
};

describe('300 connections of callers whom nobody knows', () => {
  let database: ThrowAwayDatabase;
  let service: ChildService;
  let known: ApiClient;
  let path: string;
  let strangers: LoadProcess;

  beforeAll(async () => {
    database = await emptyDatabase();
    service = await ChildService.start(database, { NODE_ENV: 'production' });
    known = service.anonymous.as(mintToken());
    path = `${PATH}/${await aDept(known)}`;
    strangers = new LoadProcess();
  });
  afterAll(async () => {
    strangers.stop();
    await service.stop();
    await database.drop();
  });

  /** How long a known caller waits for each of its reads, one after the other; a refusal fails. */
  async function readsOfKnown(milliseconds: number): Promise<number[]> {
    const took: number[] = [];
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const began = performance.now();
      expect((await known.get(path)).status).toBe(200);
      took.push(performance.now() - began);
      await sleep(20);
    }
    return took;
  }

  it('delay known callers by junk tokens no more than four times as long as by unknown paths', async () => {
    const medians: Record<string, number[]> = {};
    await readsOfKnown(WARM_MS);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, requests] of Object.entries(FLOODS)) {
        const port = Number(new URL(service.anonymous.baseUrl).port);
        const flood = strangers.run('flood', port, requests, CONNECTIONS, SECONDS + 1);
        await sleep(WARM_MS);
        const took = await readsOfKnown(SECONDS * 1000 - WARM_MS);
        (medians[name] ??= []).push(median(took));
        console.log(
          `${name}: ${(await flood).toFixed(0)}/s, reads: ${took.length}, median ${median(took).toFixed(1)} ms`,
        );
      }
    const [paths = 0, ...junk] = Object.values(medians).map(median);
    for (const each of junk) expect(each).toBeLessThan(4 * paths + FLOOR_MS);
  });
});
