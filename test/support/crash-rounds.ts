import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { createServiceDataSource, serviceTables } from '../../src/server/service-data-source';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { limitSilence } from '../../src/database/silence-limit';
import { ServiceDoctor } from '../../src/server/account/service-doctor';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import type { Chance } from './chance';
import { ChildService } from './child-service';
import { freePort } from './free-port';
import { ServiceUnderTest } from './service-under-test';
import { TcpProxy, type CommitFault } from './tcp-proxy';
import { until } from './until';
import { WriteLoad } from './write-load';
import type { ServerProcess } from './server-process';

/** Writes that are acknowledged before a crash, which comes within a random time after them. */
const BEFORE = 18;
const SPREAD_MS = 150;

export interface CrashReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly retried: number;
  readonly slowestMs: number;
}

export async function openBeside({ url }: Pick<ThrowAwayDatabase, 'url'>): Promise<DataSource> {
  return (await createServiceDataSource(parseDatabaseUrl(url))).initialize();
}

/** All that is wrong after a round: with what was acknowledged, and with the database itself. */
async function problemsAfter(load: WriteLoad, dataSource: DataSource): Promise<string[]> {
  const { findings, notes } = await new ServiceDoctor(dataSource).examine();
  return [...(await load.problems(dataSource)), ...findings, ...notes];
}

/** Kills the service while it is written to, and starts it again, as a process manager does. */
export async function killServiceOften(
  database: ThrowAwayDatabase,
  rounds: number,
  chance: Chance,
): Promise<CrashReport> {
  const settings = { PORT: String(await freePort()) };
  let service = await ChildService.start(database, settings);
  const kill = async (): Promise<number> => {
    await service.stop('SIGKILL');
    service = await ChildService.start(database, settings);
    return Date.now();
  };
  return endure(() => service, database, rounds, chance, kill);
}

/** Kills one of two workers while they are written to; the other serves on, and a new one takes the place of the dead. */
export async function killWorkersOften(
  database: ThrowAwayDatabase,
  rounds: number,
  chance: Chance,
): Promise<CrashReport> {
  const service = await ChildService.start(database, { WORKERS: '2', LOG_LEVEL: 'info' });
  let kills = 0;
  const kill = async (): Promise<number> => {
    await until(() => service.printed.split('a worker has started').length - 1 === kills);
    process.kill(chance.pick(service.workers), 'SIGKILL');
    kills += 1;
    return Date.now();
  };
  return endure(() => service, database, rounds, chance, kill);
}

/** Kills the database server while the service writes to it; the service runs on. */
export async function killServerOften(
  server: Pick<ServerProcess, 'end' | 'restart'>,
  database: ThrowAwayDatabase,
  rounds: number,
  chance: Chance,
): Promise<CrashReport> {
  const service = await ChildService.start(database);
  const kill = async (): Promise<number> => {
    await server.end('SIGKILL');
    // Long enough, now and then, for waiting clients to be refused.
    await sleep(chance.below(500));
    await server.restart();
    const since = Date.now();
    await service.untilReady();
    while ((await service.as().post('/system/dept-api', { deptName: 'it works again' })).status !== 200)
      await sleep(20);
    return since;
  };
  return endure(() => service, database, rounds, chance, kill);
}

async function endure(
  service: () => ChildService,
  database: ThrowAwayDatabase,
  rounds: number,
  chance: Chance,
  kill: () => Promise<number>,
): Promise<CrashReport> {
  const dataSource = await database.open(serviceTables);
  const clients = [() => service().anonymous];
  const load = await WriteLoad.on(clients, dataSource, chance, { shared: 4 });
  let slowestMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    load.begin();
    await load.untilMore(BEFORE);
    await sleep(chance.below(SPREAD_MS));
    const since = await kill();
    // Every request is answered now: what was begun before the crash was acknowledged after it.
    await load.rest();
    slowestMs = Math.max(slowestMs, Date.now() - since);
    const problems = await problemsAfter(load, dataSource);
    if (problems.length > 0)
      throw new Error(`After round ${round + 1}:\n${problems.slice(0, 20).join('\n')}`);
  }
  expect(await service().stop()).toBe(0);
  return { rounds, acknowledged: load.acknowledged, retried: load.retried, slowestMs };
}

/** A connection that is silent for longer is cut by the service; 10 s outside tests. */
const SILENCE_MS = 700;
/** Every third COMMIT; of those, most lose their answer. */
const FAULTS: readonly CommitFault[] = ['cut-after', 'cut-after', 'hang-after', 'cut-before'];
const ODDS = 3;

export interface UnknownCommitReport {
  /** COMMITs that were done and whose answer was lost. */
  readonly swallowed: number;
  readonly hung: number;
  readonly acknowledged: number;
  readonly retried: number;
  readonly problems: string[];
  /** Made without a key, there, and answered as if it were not. */
  readonly untold: string[];
}

/** Loses this many answers to COMMIT under load, between the service and its server. */
export async function swallowCommits(
  database: ThrowAwayDatabase,
  count: number,
  chance: Chance,
): Promise<UnknownCommitReport> {
  const { proxy, url } = await TcpProxy.before(database.url);
  const service = await ServiceUnderTest.on({ ...database, url });
  limitSilence(service.dataSource, SILENCE_MS);
  const dataSource = await database.open(serviceTables);
  const load = await WriteLoad.on([() => service.anonymous], dataSource, chance, { withoutKeys: true });
  const counts = { swallowed: 0, hung: 0 };
  proxy.chooseFault = () => {
    if (counts.swallowed >= count || chance.below(ODDS) > 0) return null;
    const fault = chance.pick(FAULTS);
    if (fault !== 'cut-before') counts.swallowed += 1;
    if (fault === 'hang-after') counts.hung += 1;
    return fault;
  };
  load.begin();
  while (counts.swallowed < count && !load.hasFailed) await sleep(20);
  await load.rest();
  const problems = await problemsAfter(load, dataSource);
  const untold = await load.untold(dataSource);
  const { acknowledged, retried } = load;
  await service.leave();
  await proxy.close();
  return { ...counts, acknowledged, retried, problems, untold };
}
