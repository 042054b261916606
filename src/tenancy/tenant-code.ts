/** The root of all tenants; every database has it from the first migration on. */
export const PLATFORM_TENANT = '000000';

export const TENANT_CODE = '^[0-9]{6,20}$';
const tenantCode = new RegExp(TENANT_CODE);

/** Whether a text can be a tenant's code; MySQL would not even compare any other text with its column. */
export function isTenantCode(text: string): boolean {
  return tenantCode.test(text);
}
