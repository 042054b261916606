/** The root of all tenants; every database has it from the first migration on. */
export const PLATFORM_TENANT = '000000';

export const TENANT_CODE = '^[0-9]{6,20}$';
const tenantCode = new RegExp(TENANT_CODE);

/** Whether a text can be a tenant's code; MySQL would not even compare any other text with its column. */
export function isTenantCode(text: string): boolean {
  return tenantCode.test(text);
}

/** The top-level tenant that a tenant is or is below; in the path above it that one follows the root `0` and the platform. */
export function topTenantOf(tenantId: string, ancestors: string): string {
  return ancestors.split(',')[2] ?? tenantId;
}
