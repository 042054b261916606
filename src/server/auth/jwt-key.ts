import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../config/env';

export const JWT_ALGORITHM = 'HS256';

/**
 * The key that signs tokens: `JWT_SECRET`, or one made at the first start and kept in the data folder. Not as text: that would be
 * parsed again at every check, at 50 times the cost.
 */
export function jwtKey({ JWT_SECRET, DATA_DIR }: Pick<Env, 'JWT_SECRET' | 'DATA_DIR'>): KeyObject {
  return createSecretKey(JWT_SECRET ?? keptSecret(DATA_DIR), 'utf8');
}

/** The keys whose tokens are accepted: the one that signs, and that of `JWT_SECRET_PREVIOUS`. */
export function acceptedKeys(env: Pick<Env, 'JWT_SECRET' | 'JWT_SECRET_PREVIOUS' | 'DATA_DIR'>): KeyObject[] {
  const { JWT_SECRET_PREVIOUS: previous } = env;
  return [jwtKey(env), ...(previous === undefined ? [] : [createSecretKey(previous, 'utf8')])];
}

function keptSecret(folder: string): string {
  const file = join(folder, 'jwt-secret');
  if (!existsSync(file)) makeSecret(folder, file);
  const secret = readFileSync(file, 'utf8').trim();
  if (Buffer.byteLength(secret) < 32)
    throw new Error(`${file} holds no secret of 32 bytes or more; remove it.`);
  return secret;
}

/** Of processes that start together one makes the secret: a link appears whole, and only if there is none yet. */
function makeSecret(folder: string, file: string): void {
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  writeFileSync(draft, randomBytes(48).toString('base64url'), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
