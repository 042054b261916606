import { PLATFORM_TENANT } from '../tenant/platform-tenant';

/** Which account somebody means to be. */
export interface AccountName {
  readonly tenantId: string;
  readonly username: string;
}

/** Reads `tenantCode/username`, or a user name of this tenant's. */
export function parseAccountName(text: string, tenantId = PLATFORM_TENANT): AccountName {
  const match = /^([0-9]{6,20})\/(.+)$/s.exec(text);
  return { tenantId: match?.[1] ?? tenantId, username: match?.[2] ?? text };
}
