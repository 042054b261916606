import type { FairQueue } from '../../concurrency/fair-queue';
import { HistoryErrors } from '../../errors/http.errors';
import type { ChangedFields } from '../../journal/change-log';
import type { ChangeEntry, ChangeReader, ChangeStep } from '../../journal/change-reader.repository';
import type { Position } from '../../journal/journal-state';
import type { RequestContext } from '../../tenancy/request-context';
import type { Idle } from '../../web/work-place';
import type { DeptRow } from '../dept.entity';

/** Of what one request looks at: so many entries and departments without waiting for its turn, and so many entries at most. */
export const HISTORY_LIMITS = { short: 500, most: 500_000 };
/** Requests that are long reads in one process: two in all, one of a top-level tenant and all below it. */
export const LONG_READS = { inWork: 2, waiting: 32, waitMs: 10_000, share: 1 / 2 };

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
  #rows = 0;
  #entries = 0;

  constructor(
    private readonly ctx: RequestContext,
    private readonly reader: ChangeReader,
    private readonly longReads: FairQueue,
    private readonly idle: Idle,
  ) {}

  /** What was done after a position, page by page; to departments, and to whatever else the tenant has. */
  async *steps(
    after: Position,
    wanted: { readonly upTo?: number; readonly placesOf?: 'dept' },
  ): AsyncGenerator<ChangeStep[]> {
    for await (const steps of this.reader.stepsAfter(this.ctx.tenantId, after, wanted)) {
      await this.#countEntries(steps.length);
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
      await this.#countEntries(entries.length);
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

  /** Of entries, and of departments that are read beside them. Many of them make a long read. */
  async count(rows: number): Promise<void> {
    this.#rows += rows;
    if (this.#rows > HISTORY_LIMITS.short)
      await this.idle.moveTo(this.longReads, this.ctx.topTenantId, HistoryErrors.TOO_MANY);
  }

  async #countEntries(entries: number): Promise<void> {
    this.#entries += entries;
    if (this.#entries > HISTORY_LIMITS.most) throw HistoryErrors.TOO_LONG();
    await this.count(entries);
  }
}
