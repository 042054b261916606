/** What decides whether a tenant's users are served. */
export interface TenantFacts {
  readonly status: string;
  readonly delFlag: string;
  /** First and last day of service, `YYYY-MM-DD`, both inclusive; null is open. */
  readonly startTime: string | null;
  readonly endTime: string | null;
}

/** The states of a tenant that exists. */
export const TENANT_STATES = ['ACTIVE', 'DISABLED', 'NOT_STARTED', 'EXPIRED'] as const;
export type LiveState = (typeof TENANT_STATES)[number];
export type TenantState = LiveState | 'DELETED';

/** A tenant's state on a day. Days of this form compare as texts. */
export function tenantState(
  { status, delFlag, startTime, endTime }: TenantFacts,
  today: string,
): TenantState {
  if (delFlag !== '0') return 'DELETED';
  if (status !== '0') return 'DISABLED';
  if (startTime !== null && today < startTime) return 'NOT_STARTED';
  if (endTime !== null && today > endTime) return 'EXPIRED';
  return 'ACTIVE';
}
