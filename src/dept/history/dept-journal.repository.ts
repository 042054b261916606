import { Injectable } from '@nestjs/common';
import { And, In, LessThanOrEqual, MoreThan } from 'typeorm';
import { ChangeEntity, findHistory } from '../../database/change-log';
import { inChunks } from '../../database/in-chunks';
import type { FindOptions, Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantBound, type TenantOwned } from '../../tenancy/tenant-bound';
import { cutPage, type Page } from '../../web/page';

const READ = ['version', 'seq', 'operation', 'resourceId', 'fields', 'by', 'happenedAt'] as const;
/** What is read of an entry about a department. */
export type DeptChangeEntry = Pick<ChangeEntity, (typeof READ)[number]>;

const VERSION = ['treeVersion'] as const;
const PREVIOUS = ['prev'] as const;
const TIME = ['happenedAt'] as const;
const DEPT = { kind: 'dept' } as const;
const OLDEST_FIRST = { version: 'ASC', seq: 'ASC' } as const;
export const ENTRIES_AT_ONCE = 1000;
const LAST_SEQ = 2 ** 31 - 1;
/** How far the clocks of two processes may be apart. */
const CLOCKS_APART_MS = 60_000;

/** What is asked of the tenant's row; resources do not import each other. */
interface VersionedTenant extends TenantOwned {
  readonly treeVersion: string;
}

@Injectable()
export class DeptJournal {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): DeptJournalReader {
    return new DeptJournalReader(this.#unitOfWork, ctx);
  }
}

/** What the journal of one tenant has about its departments. */
export class DeptJournalReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly ctx: RequestContext,
  ) {
    this.#unitOfWork = unitOfWork;
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
    const options = { order, limit: 1, index: 'ix_change_time' };
    const [latest] = await this.#read((changes) =>
      changes.pick({ happenedAt: LessThanOrEqual(time) }, TIME, options),
    );
    if (!latest) return 0;
    // Another process may have written a later version with an earlier time.
    const since = new Date(latest.happenedAt.getTime() - CLOCKS_APART_MS);
    const happenedAt = And(MoreThan(since), LessThanOrEqual(time));
    const version = await this.#read((changes) =>
      changes.maximum('version', (column) => column, { happenedAt }),
    );
    return version ?? 0;
  }

  /** All entries after a version, page by page in their order; each call goes on where the last one has ended. */
  following(version: number): () => Promise<DeptChangeEntry[]> {
    let after: Key = [version, LAST_SEQ];
    return async () => {
      const options = { order: OLDEST_FIRST, after, limit: ENTRIES_AT_ONCE, index: 'PRIMARY' };
      const entries = await this.#read((changes) => changes.pick(DEPT, READ, options));
      const last = entries.at(-1);
      if (last) after = [last.version, last.seq];
      return entries;
    };
  }

  /** The entries of some departments after a version, those of each in their order. */
  findOf(deptIds: readonly number[], version: number): Promise<DeptChangeEntry[]> {
    const order = { resourceId: 'ASC', ...OLDEST_FIRST } as const;
    return inChunks(deptIds, async (chunk) => {
      const where = { ...DEPT, resourceId: In(chunk.map(String)), version: MoreThan(version) };
      const found: DeptChangeEntry[] = [];
      for (let after: Key | null = null, isMore = true; isMore;) {
        const options: FindOptions<ChangeEntity> = {
          order,
          after,
          limit: ENTRIES_AT_ONCE,
          index: 'ix_change_resource',
        };
        const page: DeptChangeEntry[] = await this.#read((changes) => changes.pick(where, READ, options));
        for (const entry of page) found.push(entry);
        const last = page.at(-1);
        after = last ? [last.resourceId, last.version, last.seq] : null;
        isMore = page.length === ENTRIES_AT_ONCE;
      }
      return found;
    });
  }

  /** A page of all that was done to one department, the newest first. */
  async findPage(deptId: number, after: Key | null, limit: number): Promise<Page<ChangeEntity>> {
    const dept = { ...DEPT, resourceId: String(deptId) };
    const entries = await this.#read((changes) => findHistory(changes, dept, after, limit + 1));
    return cutPage(entries, limit, ({ version, seq }) => [version, seq]);
  }

  #read<T>(work: (changes: TenantBound<ChangeEntity>) => Promise<T>): Promise<T> {
    return this.#unitOfWork.withoutTransaction((manager) =>
      work(new TenantBound(manager, ChangeEntity, this.ctx)),
    );
  }
}
