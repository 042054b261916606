import { AuthErrors } from './access.errors';

export const ROLES = ['superadmin', 'tenant_admin', 'dept_admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** Anyone who is signed in. */
export const READERS: readonly Role[] = ROLES;
/** Those who may change the organisation. */
export const MANAGERS: readonly Role[] = ['superadmin', 'tenant_admin'];
/** Those who may change the organisation, or a part of it: a `dept_admin` what is below its departments. */
export const PART_MANAGERS: readonly Role[] = [...MANAGERS, 'dept_admin'];

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

/** Refuses a caller who has none of these roles. */
export function requireRole(own: readonly Role[], allowed: readonly Role[]): void {
  if (!allowed.some((role) => own.includes(role))) throw AuthErrors.ROLE();
}

/** 0 for the highest role; one beyond the lowest for none. */
function rank(roles: readonly Role[]): number {
  return Math.min(...roles.map((role) => ROLES.indexOf(role)), ROLES.length);
}

/**
 * Whether a caller may give these roles to an account, or change an account that has them: no role above their own. Those who manage
 * a part make no other administrators.
 */
export function mayHandle(own: readonly Role[], others: readonly Role[]): boolean {
  return rank(own) <= rank(others) && (isManager(own) || !others.includes('dept_admin'));
}

/** Whether a caller may change the whole organisation of a tenant. */
export function isManager(own: readonly Role[]): boolean {
  return own.some((role) => MANAGERS.includes(role));
}

export function toRoles(stored: string): Role[] {
  return stored.split(',').filter(isRole);
}

/** In one order, so that equal sets of roles are stored alike. */
export function fromRoles(roles: readonly Role[]): string {
  return ROLES.filter((role) => roles.includes(role)).join(',');
}
