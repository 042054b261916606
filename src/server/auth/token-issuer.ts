import {
  createHash,
  createHmac,
  randomBytes,
  randomUUID,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { sign } from 'jsonwebtoken';
import { HttpErrors } from '../../errors/http.errors';
import type { Refusal } from '../../errors/refusal';
import { PermissionCatalogue } from '../../tenancy/permissions';
import type { Principal } from '../../tenancy/principal';
import { toRoles, type Role } from '../../tenancy/roles';
import type { AccountEntity, SessionEntity } from './account.entity';
import type { TokensDto } from './auth.dto';
import { SignInErrors } from './auth.errors';
import { REFRESH_MS, type NewSession, type Renewal } from './session.repository';
import { Clock } from '../../time/clock';
import { ENV, type Env } from '../config/env';
import { acceptedKeys, JWT_ALGORITHM, jwtKey } from './jwt-key';

const ACCESS_SECONDS = 30 * 60;
/** Of 32 bytes in base64url. */
const NONCE_LENGTH = 43;
/** Of the subjects that are accounts here; for all others the issuer of the token vouches. */
const ACCOUNT_PREFIX = 'account:';

/** How tokens name an account of this service. */
export function accountSubject(userId: number): string {
  return `${ACCOUNT_PREFIX}${userId}`;
}

/** The account that a subject names, or null. */
export function accountOfSubject(subject: string): number | null {
  const digits = subject.startsWith(ACCOUNT_PREFIX) ? subject.slice(ACCOUNT_PREFIX.length) : '';
  return /^[1-9][0-9]{0,15}$/.test(digits) ? Number(digits) : null;
}

type Signing = Pick<Env, 'JWT_ISSUER' | 'JWT_AUDIENCE'> & { readonly key: KeyObject };

/** Signs an access token; `tokenId` begins with the id of its session, if there is one. What is absent limits nothing, and makes no claim. */
export function signToken(
  {
    subject,
    tenantId,
    username,
    roles,
    permissions,
    managedDeptIds,
    dataScope,
  }: Omit<Principal, 'sessionId'>,
  { key, JWT_ISSUER: issuer, JWT_AUDIENCE: audience }: Signing,
  expiresIn: number,
  tokenId: string = randomUUID(),
): string {
  const options = { algorithm: JWT_ALGORITHM, subject, issuer, audience, expiresIn, jwtid: tokenId } as const;
  const limits = { ...(permissions && { scope: permissions.join(' ') }), managedDeptIds, dataScope };
  return sign({ tenantId, username, roles, ...limits }, key, options);
}

/** Makes access tokens and refresh tokens. */
@Injectable()
export class TokenIssuer {
  readonly #signing: Signing;
  readonly #accepted: readonly KeyObject[];

  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly clock: Clock,
    private readonly catalogue: PermissionCatalogue,
  ) {
    this.#signing = { ...env, key: jwtKey(env) };
    this.#accepted = acceptedKeys(env);
  }

  /** With an outside identity provider alone, no one signs in here. */
  refuseWhenClosed(): void {
    if (this.env.LOCAL_ACCOUNTS === 'off') throw HttpErrors.NO_ROUTE();
  }

  /** The permissions that a client asks for; null: it asks for none in particular. */
  askedFor(scope?: string | null): string[] | null {
    const names = scope?.split(' ').filter(Boolean) ?? [];
    const { names: known } = this.catalogue;
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw unknownScope(unknown, known);
    return names.length > 0 ? names : null;
  }

  begin(account: AccountEntity, asked: readonly string[] | null): { tokens: TokensDto; session: NewSession } {
    const sessionId = randomUUID();
    const { tenantId, userId } = account;
    const { tokens, renewal } = this.renew(account, { sessionId, scope: null }, asked);
    return { tokens, session: { sessionId, tenantId, userId, createdAt: this.clock.now(), ...renewal } };
  }

  /** New tokens of a session. They are limited to what is asked for, and else to what the session is limited to. */
  renew(
    account: AccountEntity,
    { sessionId, scope: before }: Pick<SessionEntity, 'sessionId' | 'scope'>,
    asked: readonly string[] | null,
  ): { tokens: TokensDto; renewal: Renewal } {
    const nonce = randomBytes(32).toString('base64url');
    const secret = nonce + sealOf(this.#signing.key, sessionId, nonce);
    const { tenantId, username, userId } = account;
    const roles = toRoles(account.roles);
    const limit = this.#narrow(roles, before?.split(' ') ?? null, asked);
    const granted = this.catalogue.held(roles, limit);
    const principal = { subject: accountSubject(userId), tenantId, username, roles };
    const tokenId = `${sessionId}.${randomBytes(6).toString('base64url')}`;
    const limited = { ...principal, ...(limit && { permissions: granted }) };
    const accessToken = signToken(limited, this.#signing, ACCESS_SECONDS, tokenId);
    return {
      tokens: {
        accessToken,
        tokenType: 'Bearer',
        expiresIn: ACCESS_SECONDS,
        refreshToken: `${sessionId}.${secret}`,
        scope: granted.join(' '),
      },
      renewal: {
        refreshHash: hashOf(secret),
        expiresAt: new Date(this.clock.now().getTime() + REFRESH_MS),
        scope: limit?.join(' ') ?? null,
      },
    };
  }

  /**
   * What no role can use is left out when a limit is set. What was given up before is refused, and so is a request of which nothing is
   * left. A role that is lost later narrows nothing for good.
   */
  #narrow(
    roles: readonly Role[],
    before: readonly string[] | null,
    asked: readonly string[] | null,
  ): readonly string[] | null {
    if (!asked) return before;
    const granted = this.catalogue.held(roles, asked);
    const isWider = before !== null && !asked.every((name) => before.includes(name));
    if (isWider || granted.length === 0) throw SignInErrors.INVALID_SCOPE();
    return before ? this.catalogue.names.filter((name) => asked.includes(name)) : granted;
  }

  isNewest({ refreshHash }: SessionEntity, secret: string): boolean {
    return isSameHash(refreshHash, hashOf(secret));
  }

  /** Whether the secret of a refresh token was made here for this session. The id of a session alone, which others may read, proves nothing. */
  wasIssued({ sessionId }: SessionEntity, secret: string): boolean {
    const [nonce, seal] = [secret.slice(0, NONCE_LENGTH), secret.slice(NONCE_LENGTH)];
    const hash = hashOf(seal);
    return this.#accepted.some((key) => isSameHash(hashOf(sealOf(key, sessionId, nonce)), hash));
  }
}

function unknownScope(unknown: readonly string[], known: readonly string[]): Refusal {
  const [names, all] = [unknown.join(' ').slice(0, 100), known.join(', ')];
  const message = {
    zh: `没有名为 ${names} 的权限，可选值：${all}`,
    en: `there is no permission ${names}; there are: ${all}`,
  };
  return SignInErrors.INVALID_SCOPE({ fields: [{ field: 'scope', message }] });
}

function sealOf(key: KeyObject, sessionId: string, nonce: string): string {
  return createHmac('sha256', key).update(`refresh ${sessionId} ${nonce}`).digest('base64url');
}

function isSameHash(hash: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(other, 'hex'));
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
