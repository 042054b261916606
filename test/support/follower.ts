import type { ApiClient } from '../../src/server/testing';

export interface ChangeRow {
  readonly tenantId: string;
  readonly version: number;
  readonly seq: number;
  readonly prev: number;
  readonly kind: string;
  readonly operation: string;
  readonly id: number | string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly by: string;
  readonly time: string;
  readonly requestId: string | null;
}

export interface ChangePage {
  readonly rows: ChangeRow[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export const CHANGES = '/system/change-api';

export async function changePage(api: ApiClient, query: Record<string, unknown> = {}): Promise<ChangePage> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const params = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  const answer = await api.get(`${CHANGES}?${params.toString()}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as ChangePage;
}

export async function cursorNow(api: ApiClient): Promise<string> {
  return (await changePage(api, { after: 'now' })).nextCursor;
}

type Fields = Record<string, unknown>;

/** A system that keeps a copy: it applies every change, and complains when one is missing or comes out of order. */
export class Follower {
  readonly copy = new Map<string, Fields>();
  readonly changes: ChangeRow[] = [];
  readonly problems: string[] = [];
  #cursor: string | undefined;
  readonly #last = new Map<string, ChangeRow>();

  constructor(
    private readonly api: ApiClient,
    after?: string,
    private readonly query: Fields = {},
  ) {
    this.#cursor = after;
  }

  /** Reads on until there is nothing more. */
  async catchUp(limit = 7): Promise<this> {
    for (;;) {
      const page = await changePage(this.api, { limit, ...this.query, after: this.#cursor });
      this.#cursor = page.nextCursor;
      for (const row of page.rows) this.#apply(row);
      if (!page.hasMore) return this;
    }
  }

  of(kind: string): Map<string, Fields> {
    const prefix = `${kind} `;
    const own = [...this.copy].filter(([key]) => key.startsWith(prefix));
    return new Map(own.map(([key, fields]) => [key.slice(prefix.length), fields]));
  }

  #apply(row: ChangeRow): void {
    this.#check(row);
    this.changes.push(row);
    const key = `${row.kind} ${row.id}`;
    const known = this.copy.get(key);
    if (row.operation === 'deleted') this.copy.delete(key);
    else this.copy.set(key, { ...known, ...row.after });
  }

  #check(row: ChangeRow): void {
    const last = this.#last.get(row.tenantId);
    this.#last.set(row.tenantId, row);
    if (!last) return;
    const isNext =
      row.version === last.version
        ? row.seq === last.seq + 1 && row.prev === row.version
        : row.version > last.version && row.seq === 0 && row.prev === last.version;
    if (!isNext) this.problems.push(`${place(row)} with prev ${row.prev} came after ${place(last)}`);
  }
}

function place({ tenantId, version, seq }: ChangeRow): string {
  return `${tenantId} ${version}.${seq}`;
}
