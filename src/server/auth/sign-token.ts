import { randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import { JWT_ALGORITHM, type JwtSettings } from './jwt-settings';
import type { Principal } from '../../tenancy/principal';

type Subject = Pick<Principal, 'subject' | 'tenantId' | 'username' | 'roles'>;

/** Signs an access token; `tokenId` tells the session it belongs to. */
export function signToken(
  of: Subject,
  settings: JwtSettings,
  lifeSeconds: number,
  tokenId = randomUUID() as string,
): string {
  const { subject, tenantId, username, roles } = of;
  return sign({ tenantId, username, roles }, settings.key, {
    algorithm: JWT_ALGORITHM,
    subject,
    issuer: settings.issuer,
    audience: settings.audience,
    expiresIn: lifeSeconds,
    jwtid: tokenId,
  });
}
