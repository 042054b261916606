import { Injectable } from '@nestjs/common';
import { And, In, LessThanOrEqual, MoreThan, type FindOptionsWhere } from 'typeorm';
import { FairQueue, type Leave } from '../../concurrency/fair-queue';
import { ChangeEntity, findHistory } from '../../journal/change-log';
import { chunksOf } from '../../database/in-chunks';
import type { FindOptions, Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { HistoryErrors } from '../../errors/http.errors';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantBound, type TenantOwned } from '../../tenancy/tenant-bound';
import { cutPage, type Page } from '../../database/page';

const READ = ['version', 'seq', 'operation', 'resourceId', 'fields', 'by', 'happenedAt'] as const;
/** What is read of an entry about a department. */
export type DeptChangeEntry = Pick<ChangeEntity, (typeof READ)[number]>;

const STEP = ['version', 'seq', 'kind', 'operation', 'resourceId'] as const;
/** An update changes no place. What the journal has about tenants may be long. */
const PLACES = `CASE WHEN t.kind = 'dept' AND t.operation <> 'updated' THEN t.fields END AS fields`;
/** What was done to which department; `fields` only where places were asked for, and may have changed. */
export type DeptStep = Pick<ChangeEntity, (typeof STEP)[number]> & { readonly fields?: string | null };

const VERSION = ['treeVersion'] as const;
const PREVIOUS = ['prev'] as const;
const TIMES = ['version', 'seq', 'happenedAt'] as const;
const DEPT = { kind: 'dept' } as const;
const OLDEST_FIRST = { version: 'ASC', seq: 'ASC' } as const;
const BY_DEPT = { resourceId: 'ASC', ...OLDEST_FIRST } as const;
const ENTRIES_AT_ONCE = 1000;
const LAST_SEQ = 2 ** 31 - 1;
/** How far the clocks of two processes may be apart. */
const CLOCKS_APART_MS = 60_000;

/** Of entries that one read looks at: so many without waiting for its turn, and so many at most. */
export const HISTORY_LIMITS = { short: 2000, most: 500_000 };
/** Long reads in one process: two in all, one of a top-level tenant and all below it. Those that wait are in work for the overload queue. */
const LONG_READS = { inWork: 2, waiting: 6, waitMs: 10_000, share: 1 / 2 };

/** What is asked of the tenant's row; resources do not import each other. */
interface VersionedTenant extends TenantOwned {
  readonly treeVersion: string;
}

@Injectable()
export class DeptJournal {
  readonly #unitOfWork: UnitOfWork;
  readonly #longReads = new FairQueue(LONG_READS);

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): DeptJournalReader {
    return new DeptJournalReader(this.#unitOfWork, ctx, this.#longReads);
  }
}

/** What the journal of one tenant has about its departments. */
export class DeptJournalReader {
  readonly #unitOfWork: UnitOfWork;
  readonly #longReads: FairQueue;
  #readings = 0;
  #entries = 0;
  #place: Promise<Leave> | undefined;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly ctx: RequestContext,
    longReads: FairQueue,
  ) {
    this.#unitOfWork = unitOfWork;
    this.#longReads = longReads;
  }

  /** Does work that looks through the journal. One reading inside another is a part of it. */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    this.#readings += 1;
    try {
      return await work();
    } finally {
      this.#readings -= 1;
      if (this.#readings === 0) this.#giveBack();
    }
  }

  /** The latest version. */
  async findVersion(): Promise<number> {
    const [tenant] = await this.#unitOfWork.withoutTransaction((manager) =>
      new TenantBound<VersionedTenant>(manager, 'TenantEntity', this.ctx).pick({}, VERSION),
    );
    return Number(tenant?.treeVersion);
  }

  /** Everything after this version is kept. */
  async findKeptFrom(): Promise<number> {
    const options = { order: OLDEST_FIRST, limit: 1, index: 'PRIMARY' };
    const [oldest] = await this.#read((changes) => changes.pick({}, PREVIOUS, options));
    return oldest?.prev ?? 0;
  }

  /** The version that the tree had at this time; 0 before the first entry. */
  async findVersionAt(time: Date): Promise<number> {
    const order = { happenedAt: 'DESC' } as const;
    const newest = { order, limit: 1, index: 'ix_change_time' };
    const [latest] = await this.#read((changes) =>
      changes.pick({ happenedAt: LessThanOrEqual(time) }, TIMES, newest),
    );
    if (!latest) return 0;
    let { version } = latest;
    // Another process may have written a later version with an earlier time.
    const until = time.getTime() + CLOCKS_APART_MS;
    for (let after: Key | null = [version, LAST_SEQ]; after;) {
      const options: FindOptions<ChangeEntity> = {
        order: OLDEST_FIRST,
        after,
        limit: ENTRIES_AT_ONCE,
        index: 'PRIMARY',
      };
      const entries = await this.#read((changes) => changes.pick({}, TIMES, options));
      for (const entry of entries) if (entry.happenedAt <= time) version = entry.version;
      const isOver = entries.some(({ happenedAt }) => happenedAt.getTime() > until);
      after = isOver ? null : placeAfter(entries);
    }
    return version;
  }

  /**
   * What was done after a version, page by page; each call goes on where the last one has ended. What is about other kinds is
   * left out here, not in the statement, which would have no bound.
   */
  following(version: number, wanted: WantedSteps = {}): () => AsyncGenerator<DeptStep[]> {
    const position: Position = { last: [version, LAST_SEQ] };
    return () => this.#stepsAfter(position, wanted);
  }

  /** The entries of some departments in these versions, page by page, those of each department in their order. */
  async *findOf(
    deptIds: readonly number[],
    after: number,
    until = Number.MAX_SAFE_INTEGER,
  ): AsyncGenerator<DeptChangeEntry[]> {
    const version = And(MoreThan(after), LessThanOrEqual(until));
    for (const chunk of chunksOf(deptIds)) {
      for (let resourceIds = chunk.map(String).sort(); resourceIds.length > 0;) {
        const where = { ...DEPT, resourceId: In(resourceIds), version };
        const entries = await this.#entriesOf(where, { order: BY_DEPT });
        yield entries;
        const last = placeAfter(entries) && entries.at(-1);
        if (last) yield* this.#restOf(last, until);
        resourceIds = last ? resourceIds.filter((id) => id > last.resourceId) : [];
      }
    }
  }

  /** A page of all that was done to one department, the newest first. */
  async findPage(deptId: number, after: Key | null, limit: number): Promise<Page<ChangeEntity>> {
    const dept = { ...DEPT, resourceId: String(deptId) };
    const entries = await this.#read((changes) => findHistory(changes, dept, after, limit + 1));
    return cutPage(entries, limit, ({ version, seq }) => [version, seq]);
  }

  async *#stepsAfter(position: Position, { places, until }: WantedSteps): AsyncGenerator<DeptStep[]> {
    const where = until === undefined ? {} : { version: LessThanOrEqual(until) };
    for (let isMore = true; isMore;) {
      const options = { order: OLDEST_FIRST, after: position.last, limit: ENTRIES_AT_ONCE, index: 'PRIMARY' };
      const steps = await this.#read((changes) =>
        changes.pickWith<(typeof STEP)[number], Pick<DeptStep, 'fields'>>(
          where,
          STEP,
          places ? PLACES : '',
          options,
        ),
      );
      await this.#count(steps.length);
      const last = steps.at(-1);
      if (last) position.last = [last.version, last.seq];
      isMore = steps.length === ENTRIES_AT_ONCE;
      yield steps.filter(({ kind }) => kind === 'dept');
    }
  }

  /** A range of one department: with its ids in a list, each page would pass all entries before it. */
  async *#restOf(
    { resourceId, version, seq }: DeptChangeEntry,
    until: number,
  ): AsyncGenerator<DeptChangeEntry[]> {
    const where = { ...DEPT, resourceId, version: LessThanOrEqual(until) };
    for (let after: Key | null = [version, seq]; after;) {
      const entries: DeptChangeEntry[] = await this.#entriesOf(where, { order: OLDEST_FIRST, after });
      yield entries;
      after = placeAfter(entries);
    }
  }

  async #entriesOf(
    where: FindOptionsWhere<ChangeEntity>,
    options: FindOptions<ChangeEntity>,
  ): Promise<DeptChangeEntry[]> {
    const all = { ...options, limit: ENTRIES_AT_ONCE, index: 'ix_change_resource' };
    const entries = await this.#read((changes) => changes.pick(where, READ, all));
    await this.#count(entries.length);
    return entries;
  }

  /** A long read needs a place, and has an end. */
  async #count(entries: number): Promise<void> {
    if (this.#readings === 0) throw new Error('The journal is looked through inside `reading`.');
    this.#entries += entries;
    if (this.#entries > HISTORY_LIMITS.most) throw HistoryErrors.TOO_LONG();
    if (this.#entries <= HISTORY_LIMITS.short) return;
    this.#place ??= this.#longReads.acquire(this.ctx.topTenantId, HistoryErrors.TOO_MANY);
    await this.#place;
  }

  #giveBack(): void {
    this.#place?.then(
      (leave) => {
        leave();
      },
      () => undefined,
    );
    this.#place = undefined;
    this.#entries = 0;
  }

  #read<T>(work: (changes: TenantBound<ChangeEntity>) => Promise<T>): Promise<T> {
    return this.#unitOfWork.withoutTransaction((manager) =>
      work(new TenantBound(manager, ChangeEntity, this.ctx)),
    );
  }
}

/** Which steps are read: up to a version, or whatever comes; with the fields of those that may have changed a place, or without. */
interface WantedSteps {
  readonly until?: number;
  readonly places?: boolean;
}

/** How far steps were read. */
interface Position {
  last: Key;
}

/** Where the page after a full one begins. */
function placeAfter(entries: readonly Pick<ChangeEntity, 'version' | 'seq'>[]): Key | null {
  const last = entries.length === ENTRIES_AT_ONCE ? entries.at(-1) : undefined;
  return last ? [last.version, last.seq] : null;
}
