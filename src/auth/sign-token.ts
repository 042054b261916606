import { randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import { JWT_ALGORITHM, type JwtSettings } from './jwt.strategy';
import type { Principal } from './principal';

/** Signs an access token for a principal. */
export function signToken(principal: Principal, settings: JwtSettings, lifeSeconds: number): string {
  const { subject, tenantId, username, roles } = principal;
  return sign({ tenantId, username, roles }, settings.key, {
    algorithm: JWT_ALGORITHM,
    subject,
    issuer: settings.issuer,
    audience: settings.audience,
    expiresIn: lifeSeconds,
    jwtid: randomUUID(),
  });
}
