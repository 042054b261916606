import { PLATFORM_TENANT } from './tenant-code';

export interface AccountName {
  readonly tenantId: string;
  readonly username: string;
}

/** Reads `tenantCode/username`, or a user name of this tenant's. */
export function parseAccountName(text: string, tenantId = PLATFORM_TENANT): AccountName {
  const match = /^([0-9]{6,20})\/(.+)$/s.exec(text);
  return { tenantId: match?.[1] ?? tenantId, username: match?.[2] ?? text };
}

/** Controls, zero-width and direction marks, fillers, variation selectors, and the blank of Braille. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export const NO_INVISIBLE = { zh: '不能包含不可见字符', en: 'must not contain invisible characters' };

export function hasInvisible(username: string): boolean {
  return username.search(INVISIBLE) >= 0;
}

/** What user names are compared by: two that look the same have the same. Upper and lower case stay different. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').replace(INVISIBLE, '').trim();
}
