/** Every role, from the highest to the lowest. */
export const ROLES = ['superadmin', 'tenant_admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** Anyone who is signed in. */
export const READERS: readonly Role[] = ROLES;
/** Those who may change the organisation. */
export const MANAGERS: readonly Role[] = ['superadmin', 'tenant_admin'];

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}
