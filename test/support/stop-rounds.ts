import { setTimeout as sleep } from 'node:timers/promises';
import { In } from 'typeorm';
import { DeptEntity } from '../../src/dept/dept.entity';
import { aDept, ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from './child-service';
import { beside } from './crash-rounds';
import { OpenLoad } from './open-load';

const CLIENTS = 16;
const SHARE = 0.7;
/** Requests a second that a busy machine can carry too. */
const LIGHT = 50;
const PROBE_MS = 50;

export interface StopReport {
  /** Requests a second in the last round. */
  readonly rate: number;
  readonly answered: number;
  readonly refused: number;
  readonly unread: number;
  readonly failed: string[];
  /** Requests that nobody read, or so it seemed, and whose work was done. */
  readonly doneUnread: number;
  readonly exits: (number | null)[];
  readonly slowestMs: number;
}

/**
 * Stops the service by SIGTERM at 70 % of what it can carry. Every other time the clients are behind a balancer that
 * asks whether it is ready, and do not notice anything; the other times they go on until nobody is there. By hand the
 * load is light, and the drain ends when the balancer has noticed: then nothing depends on the speed of the machine.
 */
export async function stopUnderLoad(
  database: ThrowAwayDatabase,
  rounds: number,
  drain: 'in time' | 'by hand' = 'in time',
): Promise<StopReport> {
  const isByHand = drain === 'by hand';
  const totals = { answered: 0, refused: 0, unread: 0, doneUnread: 0, slowestMs: 0 };
  const failed: string[] = [];
  const exits: (number | null)[] = [];
  let rate = 0;
  for (let round = 0; round < rounds; round += 1) {
    const service = await ChildService.start(database, { SHUTDOWN_DRAIN_MS: isByHand ? '60000' : '500' });
    const { baseUrl } = service.anonymous;
    const load = new OpenLoad(baseUrl, `round ${round}`, await aDept(service.as()));
    // Anew each time: the first requests of a process are slow, and a machine is not the same all day.
    await load.peak(CLIENTS, 200);
    rate = isByHand ? LIGHT : SHARE * (await load.peak(CLIENTS, 400));
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
    const { outcomes } = load;
    totals.answered += outcomes.answered;
    totals.refused += outcomes.refused;
    totals.unread += outcomes.unread.length;
    failed.push(...outcomes.failed);
    if (round % 2 === 0 && outcomes.refused + outcomes.unread.length > 0)
      failed.push(`behind a balancer: ${outcomes.refused} refused, ${outcomes.unread.length} unread`);
    totals.doneUnread += await countDone(database, outcomes.unread);
  }
  return { rate: Math.round(rate), ...totals, failed, exits };
}

/** As a load balancer does it: it sends nothing more to who says no. */
async function untilUnready(baseUrl: string): Promise<void> {
  const probe = new ApiClient(baseUrl);
  while ((await probe.get('/health/ready')).status === 200) await sleep(PROBE_MS);
  probe.close();
}

async function countDone(database: ThrowAwayDatabase, names: readonly string[]): Promise<number> {
  if (names.length === 0) return 0;
  const dataSource = await beside(database);
  const done = await dataSource.manager.countBy(DeptEntity, { deptName: In([...names]) });
  await dataSource.destroy();
  return done;
}
