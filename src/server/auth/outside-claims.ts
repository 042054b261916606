import type { OutsideProvider } from './jwt-settings';

/** The claims of an outside token under the names that ours have. Its subject can never be an account here. */
export function translateClaims(claims: unknown, provider: OutsideProvider): Record<string, unknown> {
  const own = (claims ?? {}) as Record<string, unknown>;
  return {
    sub: typeof own.sub === 'string' && own.sub !== '' ? `outside:${own.sub}` : undefined,
    iat: own.iat,
    exp: own.exp,
    tenantId: at(own, provider.tenantClaim),
    roles: at(own, provider.rolesClaim),
    username: at(own, provider.usernameClaim),
  };
}

function at(claims: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Record<string, unknown>)[key]
          : undefined,
      claims,
    );
}
