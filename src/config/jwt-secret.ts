import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from './env';

/** The key that signs tokens: `JWT_SECRET`, or one made at the first start and kept in the data folder. */
export function jwtKey({ JWT_SECRET, DATA_DIR }: Pick<Env, 'JWT_SECRET' | 'DATA_DIR'>): KeyObject {
  return createSecretKey(JWT_SECRET ?? keptSecret(DATA_DIR), 'utf8');
}

function keptSecret(folder: string): string {
  const file = join(folder, 'jwt-secret');
  mkdirSync(folder, { recursive: true });
  try {
    // `wx` fails when the file exists, so of processes that start together one makes it and all read it.
    writeFileSync(file, randomBytes(48).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const secret = readFileSync(file, 'utf8').trim();
  if (Buffer.byteLength(secret) < 32)
    throw new Error(`${file} holds no secret of 32 bytes or more; remove it.`);
  return secret;
}
