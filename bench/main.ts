import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { LOUD, mariadbBinary } from '../test/support/mariadb-binary.js';
import { startMariadb } from '../test/support/mariadb-server';
import { measures } from './measures/index';
import { Bed } from './support/bed';
import { machineFacts } from './support/machine';
import { fileOf, tableOf } from './support/report';
import type { Measure, Result } from './support/result';

/** Whatever hangs, a run comes to its end. */
const PATIENCE_MS = 20 * 60_000;
const RESULTS = join(__dirname, 'results.md');

/** Runs one measure on a bed of its own; what breaks it is a line of the table too. */
async function run(measure: Measure, bed: Bed): Promise<Result[]> {
  const start = performance.now();
  try {
    return await measure.run(bed);
  } catch (error) {
    console.error(error);
    const details = error instanceof Error ? error.message : String(error);
    return [{ work: measure.name, baseline: '', figure: 'broke', bound: '', aim: '', ok: false, details }];
  } finally {
    await bed.close();
    console.log(`${measure.name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  }
}

function chosen(names: readonly string[]): Measure[] {
  const unknown = names.filter((name) => !measures.some((each) => each.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `There is no ${unknown.join(', ')}; there are ${measures.map(({ name }) => name).join(', ')}.`,
    );
  }
  return measures.filter(({ name }) => names.length === 0 || names.includes(name));
}

async function main(): Promise<void> {
  const wanted = chosen(process.argv.slice(2));
  const binary = mariadbBinary();
  if (binary === undefined) throw new Error(LOUD);
  const start = performance.now();
  const server = await startMariadb(binary);
  const results: Result[] = [];
  let bed = new Bed(server.url);
  const stop = (): void => {
    void bed.close().finally(() => server.stop().finally(() => process.exit(130)));
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  setTimeout(stop, PATIENCE_MS).unref();
  try {
    for (const measure of wanted) {
      bed = new Bed(server.url);
      results.push(...(await run(measure, bed)));
    }
    console.log(`\n${tableOf(results)}\n`);
    for (const { work, details } of results) if (details !== '') console.log(`${work}: ${details}`);
    if (wanted.length === measures.length) {
      const connection = await createConnection(server.url);
      const facts = await machineFacts(connection);
      await connection.end();
      writeFileSync(RESULTS, fileOf(results, facts, (performance.now() - start) / 1000));
    }
  } finally {
    await server.stop();
  }
  process.exit(results.some(({ ok }) => ok === false) ? 1 : 0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
