import { setTimeout as sleep } from 'node:timers/promises';
import { limitSilence } from '../../src/database/dialect';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { beside, problemsAfter } from './crash-rounds';
import type { Chance } from './chance';
import { ServiceUnderTest } from './service-under-test';
import { TcpProxy, type CommitFault } from './tcp-proxy';
import { WriteLoad } from './write-load';

/** A connection that is silent for longer is closed by the service; 5 s outside tests. */
const SILENCE_MS = 700;
/** Every third COMMIT; of those, most lose their answer. */
const FAULTS: readonly CommitFault[] = ['cut-after', 'cut-after', 'hang-after', 'cut-before'];
const ODDS = 3;

export interface UnknownCommitReport {
  /** COMMITs that were done and whose answer was swallowed. */
  readonly swallowed: number;
  readonly hung: number;
  readonly acknowledged: number;
  readonly retried: number;
  /** What is wrong with the database, or with what clients were told. */
  readonly problems: string[];
  /** Made without a key, there, and answered as if it were not. */
  readonly untold: string[];
}

/** Has this many answers to COMMIT swallowed under load, between the service and a MariaDB. */
export async function swallowCommits(
  database: ThrowAwayDatabase,
  count: number,
  random: Chance,
): Promise<UnknownCommitReport> {
  const url = new URL(database.url);
  const proxy = await TcpProxy.to(url.hostname, Number(url.port || 3306));
  url.host = `127.0.0.1:${proxy.port}`;
  const service = await ServiceUnderTest.on({ ...database, url: url.href });
  limitSilence(service.dataSource, SILENCE_MS);
  const dataSource = await beside(database);
  const load = await WriteLoad.on(() => service.anonymous, dataSource, random, { withoutKeys: true });
  const counts = { swallowed: 0, hung: 0 };
  proxy.chooseFault = () => {
    if (counts.swallowed >= count || random.below(ODDS) > 0) return null;
    const fault = random.pick(FAULTS);
    if (fault !== 'cut-before') counts.swallowed += 1;
    if (fault === 'hang-after') counts.hung += 1;
    return fault;
  };
  load.begin();
  while (counts.swallowed < count && !load.hasFailed) await sleep(20);
  await load.rest();
  const problems = await problemsAfter(load, dataSource);
  const untold = await load.untold();
  const { acknowledged, retried } = load;
  await dataSource.destroy();
  await service.leave();
  await proxy.close();
  return { ...counts, acknowledged, retried, problems, untold };
}
