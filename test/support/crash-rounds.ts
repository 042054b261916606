import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { createDataSource } from '../../src/data-source';
import { examine } from '../../src/doctor/doctor';
import { DoctorRepository } from '../../src/doctor/doctor.repository';
import type { ApiClient, ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from './child-service';
import { freePort, type MortalMariadb } from './mariadb-server';
import type { Chance } from './chance';
import { WriteLoad } from './write-load';

/** Writes that must have been acknowledged before somebody dies, within a random time after. */
const BEFORE = 18;
const SPREAD_MS = 150;

export interface CrashReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly retried: number;
  /** The longest time until everything worked again. */
  readonly slowestMs: number;
}

/** Opens a second way to the database, for looking. */
export async function beside({ url }: Pick<ThrowAwayDatabase, 'url'>): Promise<DataSource> {
  return (await createDataSource(parseDatabaseUrl(url))).initialize();
}

/** All that is wrong after a round: with what was acknowledged, and with the database itself. */
export async function problemsAfter(load: WriteLoad, dataSource: DataSource): Promise<string[]> {
  const { findings, notes } = await examine(new DoctorRepository(dataSource));
  return [...(await load.problems()), ...findings, ...notes];
}

/** Kills the service while it is written to, and starts it again, as a process manager does. */
export async function killServiceOften(
  database: ThrowAwayDatabase,
  rounds: number,
  random: Chance,
): Promise<CrashReport> {
  const settings = { PORT: String(await freePort()) };
  let service = await ChildService.start(database, settings);
  const dataSource = await beside(database);
  const load = await WriteLoad.on(() => service.anonymous, dataSource, random);
  const kill = async (): Promise<number> => {
    await service.stop('SIGKILL');
    service = await ChildService.start(database, settings);
    return Date.now();
  };
  const report = await endure(load, dataSource, rounds, random, kill);
  await dataSource.destroy();
  expect(await service.stop()).toBe(0);
  return report;
}

/** Kills the database server while the service writes to it; nobody touches the service. */
export async function killServerOften(
  server: MortalMariadb,
  database: ThrowAwayDatabase,
  rounds: number,
  random: Chance,
): Promise<CrashReport> {
  const service = await ChildService.start(database);
  const dataSource = await beside(database);
  const load = await WriteLoad.on(() => service.anonymous, dataSource, random);
  const report = await endure(load, dataSource, rounds, random, async () => {
    await server.end('SIGKILL');
    // Long enough for those who wait to be put off, now and then.
    await sleep(random.below(500));
    await server.restart();
    const since = Date.now();
    await untilItWrites(service);
    return since;
  });
  await dataSource.destroy();
  expect(await service.stop()).toBe(0);
  return report;
}

/** `kill` gives the moment from which everything could work again. */
async function endure(
  load: WriteLoad,
  dataSource: DataSource,
  rounds: number,
  random: Chance,
  kill: () => Promise<number>,
): Promise<CrashReport> {
  let slowestMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    load.begin();
    const enough = load.acknowledged + BEFORE;
    while (load.acknowledged < enough && !load.hasFailed) await sleep(10);
    await sleep(random.below(SPREAD_MS));
    const since = await kill();
    // Everybody has been answered: what was begun before the crash was acknowledged after it.
    await load.rest();
    slowestMs = Math.max(slowestMs, Date.now() - since);
    const problems = await problemsAfter(load, dataSource);
    if (problems.length > 0)
      throw new Error(`After round ${round + 1}:\n${problems.slice(0, 20).join('\n')}`);
  }
  return { rounds, acknowledged: load.acknowledged, retried: load.retried, slowestMs };
}

async function untilItWrites(service: ChildService): Promise<void> {
  await service.untilReady();
  const client: ApiClient = service.as();
  while ((await client.post('/system/dept-api', { deptName: 'it works again' })).status !== 200)
    await sleep(20);
}
