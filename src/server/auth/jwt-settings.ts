import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../config/env';

export const JWT_ALGORITHM = 'HS256';

/** How tokens are signed, and the issuer and audience that they must name. */
export abstract class JwtSettings {
  /** A KeyObject, not text: a text key is parsed again at every check, at 50 times the cost. */
  abstract readonly key: KeyObject;
  abstract readonly issuer: string;
  abstract readonly audience: string;
  /** Whether accounts of this service sign in, and HS256 tokens are accepted. */
  abstract readonly local: boolean;
  /** An outside identity provider, if there is one. */
  abstract readonly outside: OutsideProvider | null;
}

export interface OutsideProvider {
  readonly jwksUri: string;
  /** Where its tokens carry what we need; a dot goes into an object. */
  readonly tenantClaim: string;
  readonly rolesClaim: string;
  readonly usernameClaim: string;
}

export function jwtSettings(env: Env): JwtSettings {
  return {
    key: jwtKey(env),
    issuer: env.JWT_ISSUER,
    audience: env.JWT_AUDIENCE,
    local: env.LOCAL_ACCOUNTS === 'on',
    outside:
      env.JWT_JWKS_URI === undefined
        ? null
        : {
            jwksUri: env.JWT_JWKS_URI,
            tenantClaim: env.JWT_TENANT_CLAIM,
            rolesClaim: env.JWT_ROLES_CLAIM,
            usernameClaim: env.JWT_USERNAME_CLAIM,
          },
  };
}

/** The key that signs tokens: `JWT_SECRET`, or one made at the first start and kept in the data folder. */
export function jwtKey({ JWT_SECRET, DATA_DIR }: Pick<Env, 'JWT_SECRET' | 'DATA_DIR'>): KeyObject {
  return createSecretKey(JWT_SECRET ?? keptSecret(DATA_DIR), 'utf8');
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
