import { TenantErrors } from './tenant.errors';

/** Why the users of a tenant are refused, by its state. */
export const NOT_SERVED = {
  DELETED: TenantErrors.DELETED,
  DISABLED: TenantErrors.DISABLED,
  NOT_STARTED: TenantErrors.NOT_STARTED,
  EXPIRED: TenantErrors.EXPIRED,
} as const;
