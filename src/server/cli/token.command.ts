import { PermissionCatalogue } from '../../tenancy/permissions';
import { signToken } from '../auth/token-issuer';
import type { Role } from '../../tenancy/roles';
import { loadEnv } from '../config/env';
import { jwtKey } from '../auth/jwt-key';
import { serviceResources } from '../docs/service-resources';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { print, UsageError } from './values';

interface TokenOptions {
  readonly tenant: string;
  readonly user: string;
  readonly roles?: readonly Role[];
  readonly scope?: readonly string[];
  readonly managedDepts?: readonly number[];
  readonly minutes: number;
}

/** Prints an access token, signed with this installation's secret. */
export function tokenCommand({
  tenant,
  user,
  scope,
  managedDepts,
  minutes,
  ...options
}: TokenOptions): number {
  const highest = tenant === PLATFORM_TENANT ? 'superadmin' : 'tenant_admin';
  const roles = options.roles ?? [managedDepts ? 'dept_admin' : highest];
  if (roles.includes('superadmin') && tenant !== PLATFORM_TENANT)
    throw new UsageError(`The role superadmin exists only in tenant ${PLATFORM_TENANT}, not in '${tenant}'.`);
  refuseUnknown(scope ?? []);
  const limits = {
    ...(scope && { permissions: scope }),
    ...(managedDepts && { managedDeptIds: managedDepts }),
  };
  const claims = { subject: user, tenantId: tenant, username: user, roles, ...limits };
  const env = loadEnv();
  print(signToken(claims, { ...env, key: jwtKey(env) }, Math.ceil(minutes * 60)));
  return 0;
}

function refuseUnknown(permissions: readonly string[]): void {
  const { names } = new PermissionCatalogue(serviceResources);
  const unknown = permissions.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`There is no permission '${unknown}'; there are ${names.join(', ')}.`);
}
