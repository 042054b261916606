import { type FairQueue, type Leave } from '../../concurrency/fair-queue';
import { HistoryErrors } from '../../errors/http.errors';
import type { ChangedFields } from '../../journal/change-log';
import type { ChangeEntry, ChangeReader, ChangeStep } from '../../journal/change-reader.repository';
import type { Position } from '../../journal/journal-state';
import type { RequestContext } from '../../tenancy/request-context';
import type { DeptRow } from '../dept.entity';

/** Of entries that one request looks at: so many without waiting for its turn, and so many at most. */
export const HISTORY_LIMITS = { short: 2000, most: 500_000 };
/** Long reads in one process: two in all, one of a top-level tenant and all below it. Those that wait are in work for the overload queue. */
export const LONG_READS = { inWork: 2, waiting: 6, waitMs: 10_000, share: 1 / 2 };

export type PastFields = Partial<DeptRow>;

/** What several entries about one department amount to; null where it did not exist. */
export interface NetChange {
  /** The earliest value of each field that has changed. */
  readonly before: PastFields | null;
  /** The latest value of each. */
  readonly after: PastFields | null;
  readonly last: ChangeEntry;
}

export function changeOf(fields: string): Omit<NetChange, 'last'> {
  return JSON.parse(fields) as { [K in keyof ChangedFields]: PastFields | null };
}

/** What the journal of one tenant has about its departments. One request reads it, within bounds. */
export class DeptJournal {
  #entries = 0;
  #leave: Leave | undefined;

  constructor(
    private readonly ctx: RequestContext,
    private readonly reader: ChangeReader,
    private readonly longReads: FairQueue,
  ) {}

  /** What was done after a position, page by page; to departments, and to whatever else the tenant has. */
  async *steps(
    after: Position,
    wanted: { readonly upTo?: number; readonly placesOf?: 'dept' },
  ): AsyncGenerator<ChangeStep[]> {
    for await (const steps of this.reader.stepsAfter(this.ctx.tenantId, after, wanted)) {
      await this.#count(steps.length);
      yield steps;
    }
  }

  /** What has become of these departments after a version, up to another one or up to now. Those without an entry are left out. */
  async netChanges(
    deptIds: readonly number[],
    after: number,
    upTo?: number,
  ): Promise<Map<number, NetChange>> {
    const changes = new Map<number, NetChange>();
    for await (const entries of this.reader.entriesOf(this.ctx.tenantId, 'dept', deptIds, after, upTo)) {
      await this.#count(entries.length);
      for (const last of entries) {
        const deptId = Number(last.resourceId);
        const known = changes.get(deptId);
        const change = changeOf(last.fields);
        changes.set(deptId, {
          before: known ? known.before && { ...change.before, ...known.before } : change.before,
          after: change.after && { ...known?.after, ...change.after },
          last,
        });
      }
    }
    return changes;
  }

  close(): void {
    this.#leave?.();
  }

  /** A long read needs a place, and has an end. */
  async #count(entries: number): Promise<void> {
    this.#entries += entries;
    if (this.#entries > HISTORY_LIMITS.most) throw HistoryErrors.TOO_LONG();
    if (this.#entries > HISTORY_LIMITS.short)
      this.#leave ??= await this.longReads.acquire(this.ctx.topTenantId, HistoryErrors.TOO_MANY);
  }
}
