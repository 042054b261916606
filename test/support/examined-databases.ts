import { QueryFailedError, type DataSource } from 'typeorm';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { Doctor } from '../../src/doctor/doctor';
import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { isOfService } from '../../src/server/cli/with-database';
import { createServiceDataSource } from '../../src/server/service-data-source';
import type { ThrowAwayDatabase } from '../../src/server/testing';

interface Watched {
  dataSource?: DataSource;
  examinedAt?: number;
  /** Tenants whose limit a test has lowered below the number of their accounts. */
  readonly lowered: Set<string>;
  /** Whether departments may be deleted that accounts or keys were granted. */
  mayDangle?: boolean;
}

const MOST = 20;

const watched = new Map<string, Watched>();

/** Has a database examined after every test from now on, and before it is dropped. */
export async function examined(database: ThrowAwayDatabase): Promise<ThrowAwayDatabase> {
  await forget(database.url);
  watched.set(database.url, { lowered: new Set() });
  const drop = async (): Promise<void> => {
    try {
      await examineOne(database.url);
    } finally {
      await forget(database.url);
      await database.drop();
    }
  };
  return { ...database, drop };
}

/** For tests that break a tree by hand: the doctor looks away from here on. */
export async function breakOnPurpose({ url }: Pick<ThrowAwayDatabase, 'url'>): Promise<void> {
  await forget(url);
}

/** For tests with so many departments that to examine them after each test would take minutes. */
export async function isTooLarge({ url }: Pick<ThrowAwayDatabase, 'url'>): Promise<void> {
  await forget(url);
}

/** For tests that lower a limit below the number of accounts, which is allowed. */
export function limitIsLowered({ url }: Pick<ThrowAwayDatabase, 'url'>, tenantId: string): void {
  watched.get(url)?.lowered.add(tenantId);
}

/** For tests that delete departments which accounts or keys were granted, which is allowed. */
export function grantsMayDangle({ url }: Pick<ThrowAwayDatabase, 'url'>): void {
  const one = watched.get(url);
  if (one) one.mayDangle = true;
}

/** Many tests take a few milliseconds, and a look takes more: what is wrong is seen after one of the next. */
const SELDOM_MS = 1000;

export async function examineAll({ seldom = false } = {}): Promise<void> {
  const now = performance.now();
  for (const [url, { examinedAt = 0 }] of watched)
    if (!seldom || now - examinedAt > SELDOM_MS) await examineOne(url);
}

async function forget(url: string): Promise<void> {
  const { dataSource } = watched.get(url) ?? {};
  watched.delete(url);
  if (dataSource?.isInitialized) await dataSource.destroy();
}

async function examineOne(url: string): Promise<void> {
  const one = watched.get(url);
  if (!one) return;
  one.dataSource ??= await (await createServiceDataSource(parseDatabaseUrl(url))).initialize();
  const problems = await problemsOf(one.dataSource, one);
  one.examinedAt = performance.now();
  if (problems.length > 0)
    throw new Error(`The database is not sound:\n${problems.slice(0, MOST).join('\n')}`);
}

/** All that the doctor finds; a note is one too, unless a test has said why. */
async function problemsOf(
  dataSource: DataSource,
  { lowered, mayDangle = false }: Watched,
): Promise<string[]> {
  try {
    const OwnDoctor = (await isOfService(dataSource)) ? ServiceDoctor : Doctor;
    const { findings, notes } = await new OwnDoctor(dataSource).examine();
    const isExpected = (note: string): boolean =>
      lowered.has(/tenant (\d+)/.exec(note)?.[1] ?? '') || (mayDangle && note.includes('deleted or missing'));
    return [...findings, ...notes.filter((note) => !isExpected(note))];
  } catch (error) {
    if (isUnfinished(error)) return [];
    throw error;
  }
}

/** Tests of migrations end with half a schema. */
function isUnfinished(error: unknown): boolean {
  return (
    error instanceof QueryFailedError && /no such table|doesn't exist|does not exist/.test(error.message)
  );
}
