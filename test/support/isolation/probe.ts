import type { Answer, ApiClient } from '../../../src/server/testing';

/** What stands in the place of an id. */
export type Kind = 'own' | 'below' | 'above' | 'foreign' | 'deleted' | 'recycled' | 'never' | 'text' | 'huge';

/** What the id names: a row, a tenant by its code, a text in somebody's rows, the place in somebody's list, a used key. */
export type Thing =
  | 'dept'
  | 'user'
  | 'tenant'
  | 'code'
  | 'mark'
  | 'tenantMark'
  | 'deptCursor'
  | 'userCursor'
  | 'tenantCursor'
  | 'key';

/** Rows of the caller's own that a probe may spoil: new ones each time. */
export interface Own {
  readonly dept: () => Promise<number>;
  readonly user: () => Promise<number>;
  /** A tenant below the caller's. */
  readonly tenant: () => Promise<{ readonly id: string; readonly tenantId: string }>;
}

/** `OK`, `EMPTY` (a list without rows), or the reason of a refusal. */
export type Outcome = string;

/** One position of one operation in which an id can stand. */
export interface Probe {
  readonly operation: string;
  readonly position: string;
  readonly thing: Thing;
  /** Whether any role may do it, or only those who manage. */
  readonly needs: 'reader' | 'manager' | 'nothing';
  /** The role is looked at only after the input. */
  readonly isLate?: true;
  readonly send: (api: ApiClient, id: string, own: Own) => Promise<Answer> | Answer;
  /** What an id is answered that is nothing to the caller: foreign, deleted, never there. All of them alike. */
  readonly unknown: Outcome;
  readonly own: Outcome;
  /** For a tenant below the caller's. */
  readonly below?: Outcome;
  /** For the tenant right above the caller's. */
  readonly above?: Outcome;
  readonly text?: Outcome;
  readonly huge?: Outcome;
}

/** As a JSON number, where it is one. */
export function num(id: string): string | number {
  return /^\d{1,15}$/.test(id) ? Number(id) : id;
}
