import type { JwtSettings } from '../auth/jwt-settings';
import type { Env } from './env';
import { jwtKey } from './jwt-secret';

/** How tokens are made and checked, from the configuration. */
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
