import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { ServiceDoctor } from '../../../src/server/account/service-doctor';
import { openBeside } from '../../support/crash-rounds';
import { until } from '../../support/until';

/** On a connection of its own; a node that does not answer within two seconds is away. */
export async function ask(url: string, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ uri: url, connectTimeout: 2000 });
  connection.on('error', () => undefined);
  try {
    const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: 5000 });
    return rows;
  } finally {
    connection.destroy();
  }
}

/** What the doctor finds on one node of a cluster. */
export async function findingsAt(url: string): Promise<string[]> {
  const dataSource = await openBeside({ url });
  const { findings } = await new ServiceDoctor(dataSource).examine().finally(() => dataSource.destroy());
  return findings;
}

/** A checksum of each table on one node. */
export async function sumsAt(url: string): Promise<Record<string, unknown>> {
  const tables = await ask(
    url,
    'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1',
  );
  const names = tables.map(({ name }) => `\`${String(name)}\``).join();
  const sums = await ask(url, `CHECKSUM TABLE ${names}`);
  return Object.fromEntries(sums.map((row) => [String(row.Table), row.Checksum as unknown]));
}

/** No node has anything wrong, and all have the same. */
export async function expectSoundAndEqual(urls: readonly string[]): Promise<void> {
  for (const [index, url] of urls.entries()) expect([index, await findingsAt(url)]).toEqual([index, []]);
  // A replica may be cleaning up just now: what one node has, the others get in a moment.
  await until(async () => {
    const sums = await Promise.all(urls.map(sumsAt));
    return new Set(sums.map((each) => JSON.stringify(each))).size === 1;
  });
}
