import { createSecretKey } from 'node:crypto';
import type { Role } from '../tenancy/roles';
import { signToken } from './auth/token-issuer';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';

/** What test services sign with. */
export const TEST_SECRET = 'a-secret-for-tests-of-at-least-32-bytes';

const LIFE_SECONDS = 600;

/** Somebody who calls; an administrator of the platform's tenant unless told otherwise. */
export interface Caller {
  readonly tenantId?: string;
  readonly username?: string;
  readonly roles?: readonly Role[];
}

/** A token such as the platform around the service issues, for a caller who has no account here. */
export function mintToken(
  { tenantId = PLATFORM_TENANT, username = 'tester', roles = ['tenant_admin'] }: Caller = {},
  secret = TEST_SECRET,
): string {
  const key = createSecretKey(secret, 'utf8');
  const jwt = { key, issuer: 'tenantry', audience: 'tenantry', local: true, outside: null };
  return signToken({ subject: `test|${username}`, tenantId, username, roles }, jwt, LIFE_SECONDS);
}
