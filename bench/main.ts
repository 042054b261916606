import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { LOUD, mariadbBinary } from '../test/support/server-binaries.js';
import { startMariadb } from '../test/support/mariadb-server';
import { exportAll } from './measures/export';
import { growth } from './measures/growth';
import { memory } from './measures/memory';
import { move } from './measures/move';
import { others } from './measures/others';
import { readAll } from './measures/read-all';
import { start } from './measures/start';
import { statements } from './measures/statements';
import { OperationCosts } from './operations/measure';
import { operations } from './operations/operations';
import { Bed } from './support/bed';
import { boundsTable, fileOf, operationsTable } from './support/report';
import type { Measure, OperationResult, Result } from './support/result';

const MEASURES: readonly Measure[] = [statements, move, readAll, others, growth, exportAll, memory, start];
/** Whatever hangs, a run comes to its end. */
const LONGEST_MS = 60 * 60_000;
const RESULTS = join(__dirname, 'results.md');

interface Found {
  readonly operations: OperationResult[];
  readonly bounds: Result[];
}

/** What breaks a measure is a missed bound too. */
function broken(work: string, error: unknown): Result {
  console.error(error);
  const details = error instanceof Error ? error.message : String(error);
  return { work, baseline: '', figure: 'broke', bound: '', ok: false, details };
}

/** Runs what the names choose: a measure, an operation, or all operations that begin with a name. */
async function runAll(names: readonly string[], newBed: () => Bed): Promise<Found> {
  const isChosen = (name: string) => names.length === 0 || names.some((each) => name.startsWith(each));
  const chosen = operations.filter(({ name }) => names.includes('operations') || isChosen(name));
  const measures = MEASURES.filter(({ name }) => isChosen(name));
  if (chosen.length + measures.length === 0) throw new Error(`There is none of ${names.join(', ')}.`);
  const found: Found = { operations: [], bounds: [] };
  const timed = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const start = performance.now();
    await work().catch((error: unknown) => found.bounds.push(broken(name, error)));
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  };
  if (chosen.length > 0) {
    const bed = newBed();
    const costs = await OperationCosts.on(bed);
    for (const each of chosen)
      await timed(each.name, async () => found.operations.push(await costs.measure(each)));
    await bed.close();
  }
  for (const { name, run } of measures) {
    const bed = newBed();
    await timed(name, async () => found.bounds.push(...(await run(bed))));
    await bed.close();
  }
  return found;
}

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  const binary = mariadbBinary();
  if (binary === undefined) throw new Error(LOUD);
  const begin = performance.now();
  const server = await startMariadb(binary);
  const beds: Bed[] = [];
  const stop = async (code: number): Promise<never> => {
    for (const bed of beds) await bed.close();
    await server.stop();
    process.exit(code);
  };
  process.once('SIGINT', () => void stop(130)).once('SIGTERM', () => void stop(130));
  setTimeout(() => void stop(1), LONGEST_MS).unref();
  const found = await runAll(names, () => {
    const bed = new Bed(server.url);
    beds.push(bed);
    return bed;
  });
  for (const { name, details } of found.operations) console.log(`${name}: ${details}`);
  for (const { work, details } of found.bounds) console.log(`${work}: ${details}`);
  console.log(`\n${operationsTable(found.operations)}\n\n${boundsTable(found.bounds)}\n`);
  if (names.length === 0) {
    const connection = await createConnection(server.url);
    const [rows] = await connection.query('SELECT VERSION() AS version');
    await connection.end();
    const mariadb = (rows as { version: string }[])[0]?.version ?? '?';
    const seconds = (performance.now() - begin) / 1000;
    writeFileSync(RESULTS, fileOf(found.operations, found.bounds, { seconds, mariadb }));
  }
  await stop([...found.operations, ...found.bounds].some(({ ok }) => ok === false) ? 1 : 0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
