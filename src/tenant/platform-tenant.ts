/** The root of all tenants; every database has it from the first migration on. */
export const PLATFORM_TENANT = '000000';
