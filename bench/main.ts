import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mariadbBinary, postgresFolder } from '../test/support/server-binaries.js';
import { startInnodb } from '../test/support/innodb-server';
import { startPostgres } from '../test/support/postgres-server';
import { exportAll } from './measures/export';
import { journal } from './measures/journal';
import { growth } from './measures/growth';
import { large } from './measures/large';
import { memory } from './measures/memory';
import { move } from './measures/move';
import { others } from './measures/others';
import { parts } from './measures/parts';
import { quota } from './measures/quota';
import { readAll } from './measures/read-all';
import { scopedPage } from './measures/scoped-page';
import { start } from './measures/start';
import { statements } from './measures/statements';
import { workers } from './measures/workers';
import { OperationCosts } from './operations/measure';
import { operations } from './operations/operations';
import { Bed } from './support/bed';
import { APART, fileOf, largeSection, node20Section, tablesOf, withSection } from './support/report';
import type { Found, Measure, OperationResult, Result } from './support/result';
import type { ServerProcess } from '../test/support/server-process';

const MEASURES: readonly Measure[] = [
  statements,
  move,
  readAll,
  others,
  growth,
  exportAll,
  memory,
  start,
  journal,
  quota,
  parts,
  scopedPage,
  workers,
];
/** Only when they are named. */
const APART_MEASURES: readonly Measure[] = [large];
/** What is measured on PostgreSQL and on Node.js 20 too. */
const CORE = /^(getDept|listDepts, \d+|createDept|updateDept, move of 11|move|scoped-page)$/;
/** Whatever hangs, a run comes to its end. */
const LONGEST_MS = 90 * 60_000;
const isNode20 = process.env.NODE_MAJOR === '20';
const RESULTS = join(__dirname, 'results.md');

/** How to close what is open, in order. */
const ends: (() => Promise<void>)[] = [];

async function closeAll(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

async function stop(code: number): Promise<never> {
  await closeAll();
  process.exit(code);
}

/** What breaks a measure is a missed bound too. */
function broken(work: string, error: unknown): Result {
  console.error(error);
  const details = error instanceof Error ? error.message : String(error);
  return { work, baseline: '', figure: 'broke', bound: '', ok: false, details };
}

/** Runs what the names choose: a measure, an operation, or all forms of an operation, whose names go on after a comma. */
async function runOn(
  server: Pick<ServerProcess, 'url' | 'stop'>,
  names: readonly string[],
  offered = /^/,
): Promise<Found> {
  const isChosen = (name: string): boolean =>
    offered.test(name) && (names.length === 0 || names.some((each) => `${name},`.startsWith(`${each},`)));
  const isAll = names.includes('operations') || names.includes('answers');
  const chosen = operations.filter(({ name }) => (isAll ? offered.test(name) : isChosen(name)));
  const measures = [
    ...MEASURES.filter(({ name }) => isChosen(name)),
    ...APART_MEASURES.filter(({ name }) => names.includes(name)),
  ];
  if (chosen.length + measures.length === 0) throw new Error(`There is none of ${names.join(', ')}.`);
  ends.push(() => server.stop());
  const newBed = (): Bed => {
    const bed = new Bed(server.url);
    ends.unshift(() => bed.close());
    return bed;
  };
  const found = { operations: [] as OperationResult[], bounds: [] as Result[] };
  const timed = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const start = performance.now();
    await work().catch((error: unknown) => found.bounds.push(broken(name, error)));
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  };
  const version = await newBed().version();
  if (chosen.length > 0) {
    const bed = newBed();
    await timed('operations', async () => {
      const costs = await OperationCosts.on(bed);
      if (names.includes('answers')) {
        for (const each of chosen) await timed(each.name, () => costs.compare(each));
        return;
      }
      await costs.warmUp();
      for (const each of chosen)
        await timed(each.name, async () => {
          const result = await costs.measure(each);
          found.operations.push(result);
          console.log(`${each.name}: ${result.ratio.toFixed(2)} ×; ${result.details}`);
        });
    });
    await bed.close();
  }
  for (const { name, run } of measures) {
    const bed = newBed();
    await timed(name, async () => {
      const results = await run(bed);
      found.bounds.push(...results);
      for (const { work, figure, details } of results) console.log(`${work}: ${figure}; ${details}`);
    });
    await bed.close();
  }
  await closeAll();
  return { ...found, version };
}

async function onMariadb(names: readonly string[]): Promise<Found> {
  const binary = mariadbBinary();
  if (binary === undefined) throw new Error('No MariaDB is installed.');
  return runOn(await startInnodb(binary), names, isNode20 ? CORE : undefined);
}

async function onPostgres(names: readonly string[]): Promise<Found | null> {
  const folder = postgresFolder();
  const settings = ['shared_preload_libraries=pg_stat_statements'];
  if (folder !== undefined) return runOn(await startPostgres(folder, { settings }), names, CORE);
  console.log('No PostgreSQL is installed: nothing was measured on it.');
  return null;
}

async function main(): Promise<void> {
  const all = process.argv.slice(2);
  const names = all.filter((name) => name !== 'postgres');
  const begin = performance.now();
  process.once('SIGINT', () => void stop(130)).once('SIGTERM', () => void stop(130));
  setTimeout(() => void stop(1), LONGEST_MS).unref();
  const isOnlyPostgres = names.length < all.length;
  const mariadb = isOnlyPostgres ? null : await onMariadb(names);
  const postgres = isOnlyPostgres || all.length === 0 ? await onPostgres(names) : null;
  const parts = [mariadb, postgres].filter((part) => part !== null);
  for (const part of parts) console.log(`\n${part.version}\n\n${tablesOf(part)}\n`);
  if (mariadb) {
    const before = readFileSync(RESULTS, 'utf8');
    const seconds = (performance.now() - begin) / 1000;
    if (all.length === 0) writeFileSync(RESULTS, fileOf(before, mariadb, postgres, seconds));
    if (all.join() === 'large' && mariadb.bounds.every(({ ok }) => ok !== false))
      writeFileSync(RESULTS, withSection(before, APART.large, largeSection(mariadb)));
    if (all.join() === 'operations' && isNode20)
      writeFileSync(RESULTS, withSection(before, APART.node20, node20Section(mariadb)));
  }
  const verdicts = parts.flatMap((part) => [...part.operations, ...part.bounds]);
  await stop(verdicts.some(({ ok }) => ok === false) ? 1 : 0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
