import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoad, OpenLoad, type LoadReport } from './load';

/** Run by `LoadProcess` in a process of its own: inside Jest the same code sends a fraction of the requests. */

const CLOSED_CONNECTIONS = 48;
const OPEN_CONNECTIONS = 512;
const TURN_MS = 1000;
/** Of a load, and of a turn: what was there before has to go, and what is there while it lasts to come. */
const WARM_MS = 1500;
const TURN_WARM_MS = 300;
/** In which all who are to wait arrive. */
const ARRIVE_MS = 4000;
/** How long answers are waited for when all is sent. */
const LATE_MS = 2000;

/** These requests in turn, so many a second. */
export interface Stream {
  readonly requests: readonly string[];
  readonly rate: number;
}

const inTurn =
  (requests: readonly string[]) =>
  (n: number): string =>
    requests[n % requests.length]!;

/** Answers a second, each connection asking anew when it has its answer. */
async function closed(port: number, requests: readonly string[], seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const next = inTurn(requests);
  const took = await closedLoad({
    port,
    connections: CLOSED_CONNECTIONS,
    requests: () => performance.now() < end,
    request: (_, n) => next(n),
  });
  return took.length / seconds;
}

/** Streams that are sent at the same time, each over its own connections. */
function open(port: number, streams: readonly Stream[], seconds: number): Promise<LoadReport[]> {
  const counted = performance.now() + WARM_MS;
  return Promise.all(
    streams.map(async ({ requests, rate }) => {
      const load = new OpenLoad(port, inTurn(requests), OPEN_CONNECTIONS);
      await load.send(rate, WARM_MS + seconds * 1000);
      await load.end(LATE_MS);
      return load.report(counted);
    }),
  );
}

/** What is done a second of each stream, in many short turns: within seconds a shared machine becomes half as fast again. */
async function turns(port: number, streams: readonly Stream[], rounds: number): Promise<number[]> {
  // Each stream has connections of its own, so that none finds what another has left behind.
  const turns = streams.map(({ requests, rate }) => ({
    rate,
    load: new OpenLoad(port, inTurn(requests), OPEN_CONNECTIONS),
    done: 0,
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const turn of turns) {
      const from = performance.now() + TURN_WARM_MS;
      await turn.load.send(turn.rate, TURN_WARM_MS + TURN_MS);
      const answers = turn.load.answers.splice(0);
      turn.done += answers.filter(
        ({ status, at }) => status === 200 && at >= from && at < from + TURN_MS,
      ).length;
    }
  }
  await Promise.all(turns.map(({ load }) => load.end(LATE_MS)));
  return turns.map(({ done }) => done / rounds / (TURN_MS / 1000));
}

/** So many connections send one request after the other, whatever the answers are. Gives the answers a second. */
async function flood(
  port: number,
  requests: readonly string[],
  connections: number,
  seconds: number,
): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const next = inTurn(requests);
  const took = await closedLoad({
    port,
    connections,
    requests: () => performance.now() < end,
    request: (_, n) => next(n),
    takesRefusals: true,
  });
  return took.length / seconds;
}

/** What streams meet while each of these requests waits on a connection of its own. */
async function waitedBeside(
  port: number,
  streams: readonly Stream[],
  waiting: readonly string[],
  seconds: number,
): Promise<{ readonly reports: LoadReport[]; readonly waited: number }> {
  let isOver = false;
  const waits = closedLoad({
    port,
    connections: waiting.length,
    requests: () => !isOver,
    request: (connection) => waiting[connection]!,
    takesRefusals: true,
    // They come one after the other, and who is refused comes again.
    paceMs: ARRIVE_MS,
  });
  await sleep(1.5 * ARRIVE_MS);
  const reports = await open(port, streams, seconds);
  isOver = true;
  const took = await waits;
  return { reports, waited: took.filter((ms) => ms > seconds * 1000).length };
}

const measures = { closed, open, turns, flood, waitedBeside };
export type Measures = typeof measures;

process.on('message', ({ name, args }: { name: keyof Measures; args: never[] }) => {
  const measure: (...args: never[]) => Promise<unknown> = measures[name];
  void measure(...args).then((found) => process.send?.(found));
});
