import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { TEST_SECRET, type ThrowAwayDatabase } from '../../src/server/testing';

const CLI = join(__dirname, '..', '..', 'dist', 'server', 'cli', 'main.js');

/** Runs the built command line on a database. */
export function runCli(
  { url: DATABASE_URL, folder: DATA_DIR }: ThrowAwayDatabase,
  args: string[],
  input = '',
  more: Record<string, string> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const env = { PATH: process.env.PATH, DATABASE_URL, DATA_DIR, JWT_SECRET: TEST_SECRET, ...more };
  const child = spawn(process.execPath, [CLI, ...args], { cwd: DATA_DIR, env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.end(input);
  return new Promise((resolve) =>
    child.once('close', (code) => {
      resolve({ code, out, err });
    }),
  );
}
