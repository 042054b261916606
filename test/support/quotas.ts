import type { Answer, ApiClient } from '../../src/server/testing';

export const QUOTAS = '/system/quota-api';
export const RISK = `${QUOTAS}/riskReport`;

export interface Quota {
  readonly kind: string;
  readonly total: number;
  readonly used: number;
  readonly reserved: number;
  readonly available: number | null;
}

export interface QuotaEntry {
  readonly seq: number;
  readonly operation: string;
  readonly amount: number;
  readonly key: string | null;
  readonly ofKey: string | null;
  readonly available: number | null;
  readonly note: string | null;
  readonly createBy: string;
  readonly createTime: string;
}

/** One quota of the caller's tenant, as it is told. */
export async function quotaOf(api: ApiClient, kind = 'riskReport'): Promise<Quota> {
  const all = (await api.get(QUOTAS)).body.data as Quota[];
  return all.find((each) => each.kind === kind)!;
}

/** The same in short: total, used, reserved, available. */
export async function numbersOf(api: ApiClient, kind?: string): Promise<(number | null)[]> {
  const { total, used, reserved, available } = await quotaOf(api, kind);
  return [total, used, reserved, available];
}

export function use(api: ApiClient, key: string, amount = 1): Promise<Answer> {
  return api.post(`${RISK}/use`, { key, amount });
}

export function reserve(api: ApiClient, key: string, amount = 1, seconds = 60): Promise<Answer> {
  return api.post(`${RISK}/reservations`, { key, amount, seconds });
}

export function commit(api: ApiClient, key: string, amount?: number): Promise<Answer> {
  const body = amount === undefined ? undefined : { amount };
  return api.post(`${RISK}/reservations/${encodeURIComponent(key)}/commit`, body);
}

export function release(api: ApiClient, key: string): Promise<Answer> {
  return api.delete(`${RISK}/reservations/${encodeURIComponent(key)}`);
}

export function refund(api: ApiClient, ofKey: string, key: string, amount?: number): Promise<Answer> {
  return api.post(`${RISK}/refund`, { ofKey, key, amount });
}

/** All of the ledger, the newest first. */
export async function ledgerOf(api: ApiClient): Promise<QuotaEntry[]> {
  const entries: QuotaEntry[] = [];
  for (let cursor = ''; ;) {
    const { body } = await api.get(`${RISK}/entries?limit=500${cursor}`);
    const { rows, nextCursor } = body.data as { rows: QuotaEntry[]; nextCursor: string | null };
    entries.push(...rows);
    if (nextCursor === null) return entries;
    cursor = `&cursor=${nextCursor}`;
  }
}

/** `200`, or the reason of a refusal. */
export function outcome({ status, refusal }: Answer): number | string {
  return status === 200 ? 200 : refusal.reason;
}
