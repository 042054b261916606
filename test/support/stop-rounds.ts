import { setTimeout as sleep } from 'node:timers/promises';
import { In } from 'typeorm';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, ApiClient, mintToken, type ThrowAwayDatabase } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { ChildService } from './child-service';
import { closedLoad, OpenLoad, rawRequest } from './load';

const PATH = '/system/dept-api';
const CLIENTS = 16;
const CONNECTIONS = 256;
const SHARE = 0.7;
/** Requests a second that a busy machine can carry too. */
const LIGHT = 50;
const PROBE_MS = 50;

export interface StopReport {
  readonly answered: number;
  readonly failed: string[];
  /** Writes that the server closed without an answer, and did all the same. */
  readonly doneUnread: number;
  readonly exits: (number | null)[];
  readonly slowestMs: number;
}

/**
 * Stops the service by SIGTERM at 70 % of what it can carry. Every other time the clients are behind a balancer that
 * asks whether it is ready, and notice nothing; the other times they go on until the service is gone. By hand the
 * load is light, and the drain ends when the balancer has noticed: then nothing depends on the speed of the machine.
 */
export async function stopUnderLoad(
  database: ThrowAwayDatabase,
  rounds: number,
  drain: 'in time' | 'by hand' = 'in time',
  WORKERS = '1',
): Promise<StopReport> {
  const isByHand = drain === 'by hand';
  const totals = { answered: 0, doneUnread: 0, slowestMs: 0 };
  const failed: string[] = [];
  const exits: (number | null)[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const settings = { SHUTDOWN_DRAIN_MS: isByHand ? '60000' : '500', WORKERS };
    const service = await ChildService.start(database, settings);
    const { baseUrl } = service.anonymous;
    const port = Number(new URL(baseUrl).port);
    const request = await readsAndWrites(service, `round ${round}`);
    // Anew each time: the first requests of a process are slow, and a machine is not the same all day.
    await peak(port, request, 200);
    const rate = isByHand ? LIGHT : SHARE * (await peak(port, request, 400));
    const load = new OpenLoad(port, request, CONNECTIONS);
    const sending = load.send(rate);
    await sleep(200);
    const begun = Date.now();
    const ended = service.stop();
    if (round % 2 === 0) await untilUnready(baseUrl);
    else await ended;
    await load.end();
    await sending;
    if (isByHand) service.process.kill('SIGINT');
    exits.push(await ended);
    totals.slowestMs = Math.max(totals.slowestMs, Date.now() - begun);
    const { good, byStatus } = load.report();
    totals.answered += good.count;
    const wrong = Object.keys(byStatus).filter((status) => status !== '200');
    const behindBalancer = round % 2 === 0;
    const lost = load.lost.filter(({ why }) => behindBalancer || why === 'broken');
    failed.push(...lost.map(({ why }) => why), ...wrong.map((status) => `status ${status}`));
    const unread = load.lost.filter(({ why }) => why === 'unread');
    totals.doneUnread += await countDone(
      database,
      unread.map(({ request }) => request),
    );
  }
  return { ...totals, failed, exits };
}

/** Every third request writes a department with a name of its own. */
async function readsAndWrites(service: ChildService, label: string): Promise<() => string> {
  const token = mintToken();
  const read = rawRequest('GET', `${PATH}/${await aDept(service.as())}`, token);
  let n = 0;
  return () => ((n += 1) % 3 === 0 ? rawRequest('POST', PATH, token, { deptName: `${label} ${n}` }) : read);
}

/** As many requests a second as clients get answered that wait for each answer. */
async function peak(port: number, request: () => string, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  const requests = (): boolean => performance.now() < end;
  const took = await closedLoad({ port, connections: CLIENTS, requests, request });
  return (took.length * 1000) / milliseconds;
}

/** A load balancer sends nothing more to a service that says no. */
async function untilUnready(baseUrl: string): Promise<void> {
  const probe = new ApiClient(baseUrl);
  while ((await probe.get('/health/ready')).status === 200) await sleep(PROBE_MS);
  probe.close();
}

/** How many of these requests wrote their department. */
async function countDone(database: ThrowAwayDatabase, requests: readonly string[]): Promise<number> {
  if (requests.length === 0) return 0;
  const { manager } = await database.open(serviceTables);
  const names = requests.flatMap((request) => /"deptName":"([^"]*)"/.exec(request)?.[1] ?? []);
  return manager.countBy(TenantryDept, { deptName: In(names) });
}
