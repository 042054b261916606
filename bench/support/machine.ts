import { cpus, release, totalmem } from 'node:os';
import type { Connection } from 'mysql2/promise';

/** What the figures were measured on. */
export async function machineFacts(connection: Connection): Promise<string[]> {
  const [rows] = await connection.query('SELECT VERSION() AS version');
  const [{ version } = { version: '?' }] = rows as { version: string }[];
  return [
    `CPU: ${cpus()[0]?.model ?? '?'}, ${cpus().length} cores`,
    `Memory: ${(totalmem() / 2 ** 30).toFixed(1)} GB`,
    `Kernel: ${release()}`,
    `Node: ${process.version}`,
    `MariaDB: ${version}`,
    `Date: ${new Date().toISOString().slice(0, 10)}`,
  ];
}
