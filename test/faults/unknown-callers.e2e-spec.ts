import { setTimeout as sleep } from 'node:timers/promises';
import { aDept, mintToken, type ApiClient } from '../../src/server/testing';
import { rawRequest } from '../support/load';
import { forTime, median, MeasuredService, say, timesOf } from './support/measured-service';

const CONNECTIONS = 300;
const SECONDS = 4;
const WARM_MS = 1000;
const ROUNDS = 3;
/** Below this, two times differ by what else the machine does. */
const FLOOR_MS = 15;
const PATH = '/system/dept-api';

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
  const service = MeasuredService.use({ NODE_ENV: 'production' });
  let known: ApiClient;
  let path: string;

  beforeAll(async () => {
    known = service.child.as();
    path = `${PATH}/${await aDept(known)}`;
  });

  const readsOfKnown = (milliseconds: number) => timesOf(() => known.get(path), forTime(milliseconds));

  it('300 unknown callers delay known ones by junk tokens no more than four times as long as by unknown paths', async () => {
    const medians: Record<string, number[]> = {};
    await readsOfKnown(WARM_MS);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, requests] of Object.entries(FLOODS)) {
        const flood = service.load.run('flood', service.port, requests, CONNECTIONS, SECONDS + 1);
        await sleep(WARM_MS);
        const took = await readsOfKnown(SECONDS * 1000 - WARM_MS);
        (medians[name] ??= []).push(median(took));
        say(
          `${name}: ${(await flood).toFixed(0)}/s, reads: ${took.length}, median ${median(took).toFixed(1)} ms`,
        );
      }
    const [paths = 0, ...junk] = Object.values(medians).map(median);
    for (const each of junk) expect(each).toBeLessThan(4 * paths + FLOOR_MS);
  });
});
