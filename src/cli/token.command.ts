import { parseArgs } from 'node:util';
import { principalOf } from '../auth/principal';
import { signToken } from '../auth/sign-token';
import { loadEnv } from '../config/env';
import { jwtSettings } from '../config/jwt-settings';
import { PLATFORM_TENANT } from '../tenant/platform-tenant';
import { print } from './print';

const OPTIONS = {
  tenant: { type: 'string', default: PLATFORM_TENANT },
  user: { type: 'string', default: 'admin' },
  roles: { type: 'string' },
  minutes: { type: 'string', default: '30' },
} as const;

/** Prints an access token, signed with this installation's secret. */
export function tokenCommand(args: string[]): number {
  const { values } = parseArgs({ args, options: OPTIONS });
  const env = loadEnv();
  const lifeSeconds = Number(values.minutes) * 60;
  const roles = values.roles ?? (values.tenant === PLATFORM_TENANT ? 'superadmin' : 'tenant_admin');
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    sub: values.user,
    tenantId: values.tenant,
    username: values.user,
    roles: roles.split(','),
  };
  const principal = principalOf({ ...claims, iat: now, exp: now + lifeSeconds });
  if (!principal?.roles.length || !(lifeSeconds > 0)) throw new Error('This would be no valid token.');
  print(signToken(principal, jwtSettings(env), lifeSeconds));
  return 0;
}
