import { Injectable } from '@nestjs/common';
import { And, In, LessThanOrEqual, MoreThan, MoreThanOrEqual, Raw, type FindOptionsWhere } from 'typeorm';
import { TenantryChange, type ChangeKind, type ChangeOperation } from './change-log';
import { chunksOf } from '../database/in-chunks';
import { cutPage, PagedList, type PageRequest, type PageView } from '../database/page';
import { ScopedTable, type FindOptions } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { endOf, journalStates, LAST_SEQ, type JournalState, type Position } from './journal-state';
import { RequestContext } from '../tenancy/request-context';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';

/** Which entries; what is absent does not matter. */
export interface ChangeFilters {
  readonly kinds: readonly ChangeKind[];
  /** Of the entries about tenants, only those at or below this one. */
  readonly lineage?: string;
  readonly operation?: ChangeOperation | undefined;
  readonly resourceId?: string | undefined;
  readonly by?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** Which entries of a journal. */
export interface Followed extends Pick<ChangeFilters, 'kinds' | 'lineage'> {
  /** The tenant whose journal it is. */
  readonly journal: string;
}

/** What tenants follow: the journal of their own; of the platform's, which tells of all tenants, what happens at and below them. */
export function followedBy(tenantId: string, kinds: readonly ChangeKind[]): Followed[] {
  if (tenantId === PLATFORM_TENANT) return [{ journal: tenantId, kinds }];
  return [
    { journal: tenantId, kinds: kinds.filter((kind) => kind !== 'tenant') },
    { journal: PLATFORM_TENANT, kinds: kinds.filter((kind) => kind === 'tenant'), lineage: tenantId },
  ].filter((followed) => followed.kinds.length > 0);
}

interface After extends ChangeFilters {
  /** Entries of later versions are left out. */
  readonly upTo: number;
  readonly limit: number;
}

interface Before extends ChangeFilters {
  /** Entries of earlier versions are left out. */
  readonly from: number;
  readonly limit: number;
}

/** What was done to one resource, by version and number. */
const HISTORY = new PagedList('history', ['long', 'int']);

const STEP = ['version', 'seq', 'kind', 'operation', 'resourceId'] as const;
/** What was done to which resource; `fields` only where they were asked for. */
export type ChangeStep = Pick<TenantryChange, (typeof STEP)[number]> & { readonly fields?: string | null };

const ENTRY = ['version', 'seq', 'resourceId', 'fields', 'by', 'happenedAt'] as const;
/** What an entry tells of a resource that is known. */
export type ChangeEntry = Pick<TenantryChange, (typeof ENTRY)[number]>;

const TIMES = ['version', 'seq', 'happenedAt'] as const;
const PAGE = 1000;
/** How far the clocks of two processes may be apart. */
export const CLOCKS_APART_MS = 60_000;
const LINEAGE = ['lineage'] as const;
const BY_COMMIT = { version: 'ASC', seq: 'ASC' } as const;
const LATEST_FIRST = { version: 'DESC', seq: 'DESC' } as const;
const OF_RESOURCE = 'ix_change_resource';
const BY_RESOURCE = { resourceId: 'ASC', ...BY_COMMIT } as const;

/** Reads the journals of tenants, in the order of their entries. It knows no callers: who may read what is the feed's matter. */
@Injectable()
export class ChangeReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  /** As `changesAfter`, on a connection of its own. */
  findAfter(tenantId: string, after: Position, wanted: After): Promise<TenantryChange[]> {
    return changesAfter(this.#changes, tenantId, after, wanted);
  }

  /** The last entries before a place, the newest first. */
  findBefore(tenantId: string, before: Position, wanted: Before): Promise<TenantryChange[]> {
    const { from, limit, ...filters } = wanted;
    const version = And(MoreThanOrEqual(from), LessThanOrEqual(before.version));
    const options = { order: LATEST_FIRST, after: [before.version, before.seq], limit };
    return find(this.#changes, { tenantId, version }, filters, options);
  }

  /**
   * The version that a tenant's tree had at this time: the last one with an entry of that time or before; 0 when there is none.
   * Versions decide, not times: another process may have written a later version with an earlier time.
   */
  async versionAt(tenantId: string, time: Date): Promise<number> {
    const newest = { order: { happenedAt: 'DESC' }, limit: 1, index: 'ix_change_time' } as const;
    const [latest] = await this.#changes.pick({ tenantId, happenedAt: LessThanOrEqual(time) }, TIMES, newest);
    let version = latest?.version ?? 0;
    const until = time.getTime() + CLOCKS_APART_MS;
    let after = latest && endOf(version);
    while (after) {
      const entries = await this.#changes.pick({ tenantId }, TIMES, pageAfter(after));
      for (const entry of entries) if (entry.happenedAt <= time) version = entry.version;
      const isOver = entries.some(({ happenedAt }) => happenedAt.getTime() > until);
      after = isOver ? undefined : lastOfFull(entries);
    }
    return version;
  }

  /** A page of all that was done to one resource, the newest first; to a tenant, while it was at or below the caller's. */
  findHistory(
    ctx: RequestContext,
    kind: ChangeKind,
    id: number | string,
    query: PageRequest,
  ): Promise<PageView<TenantryChange>> {
    RequestContext.require(ctx);
    const { tenantId } = ctx;
    const isTenant = kind === 'tenant';
    const resource = { kinds: [kind], resourceId: String(id), ...(isTenant && { lineage: tenantId }) };
    return HISTORY.page([kind, tenantId, id], query, async (after, limit) => {
      const [version = Number.MAX_SAFE_INTEGER, seq = LAST_SEQ] = (after ?? []).map(Number);
      const wanted = { ...resource, from: 0, limit: limit + 1 };
      const journal = isTenant ? PLATFORM_TENANT : tenantId;
      const entries = await this.findBefore(journal, { version, seq }, wanted);
      return cutPage(entries, limit, (entry) => [entry.version, entry.seq]);
    });
  }

  /**
   * What was done after a position, page by page, to resources of all kinds: a statement that leaves out the others would have no
   * bound. With `placesOf`: the fields of those of this kind that may have changed their parent.
   */
  async *stepsAfter(
    tenantId: string,
    start: Position,
    { upTo, placesOf }: { readonly upTo?: number; readonly placesOf?: ChangeKind },
  ): AsyncGenerator<ChangeStep[]> {
    const where = { tenantId, ...(upTo !== undefined && { version: LessThanOrEqual(upTo) }) };
    const fields =
      placesOf && `CASE WHEN t.kind = '${placesOf}' AND t.operation <> 'updated' THEN t.fields END AS fields`;
    for (let after: Position | undefined = start; after;) {
      const steps: ChangeStep[] = await this.#changes.pickWith(where, STEP, fields ?? '', pageAfter(after));
      yield steps;
      after = lastOfFull(steps);
    }
  }

  /** The entries of some resources of one kind after a version, page by page; those of each resource in their order. */
  async *entriesOf(
    tenantId: string,
    kind: ChangeKind,
    ids: readonly (number | string)[],
    after: number,
    upTo = Number.MAX_SAFE_INTEGER,
  ): AsyncGenerator<ChangeEntry[]> {
    const page = { limit: PAGE, index: OF_RESOURCE };
    const version = And(MoreThan(after), LessThanOrEqual(upTo));
    for (const chunk of chunksOf(ids))
      for (let resourceIds = chunk.map(String).sort(); resourceIds.length > 0;) {
        const ofAll = { tenantId, kind, resourceId: In(resourceIds), version };
        const entries = await this.#changes.pick(ofAll, ENTRY, { order: BY_RESOURCE, ...page });
        yield entries;
        const last = lastOfFull(entries);
        // The rest of this resource as a range of its own: with the ids in a list, each page would pass all entries before it.
        for (let place = last; place;) {
          const ofOne = { tenantId, kind, resourceId: place.resourceId, version: LessThanOrEqual(upTo) };
          const rest: ChangeEntry[] = await this.#changes.pick(ofOne, ENTRY, {
            ...pageAfter(place),
            ...page,
          });
          yield rest;
          place = lastOfFull(rest);
        }
        resourceIds = last ? resourceIds.filter((id) => id > last.resourceId) : [];
      }
  }

  /** The paths of tenants that have changed after a version of the platform's journal. */
  async lineagesAfter(version: number, limit: number): Promise<string[]> {
    const after = { tenantId: PLATFORM_TENANT, kind: 'tenant' as const, version: MoreThan(version) };
    const changes = await this.#changes.pick(after, LINEAGE, { order: BY_COMMIT, limit });
    return changes.map(({ lineage }) => lineage ?? '');
  }

  statesOf(tenantIds: readonly string[]): Promise<Map<string, JournalState>> {
    return this.#unitOfWork.withoutTransaction((manager) => journalStates(manager, tenantIds));
  }

  async stateOf(tenantId: string): Promise<JournalState> {
    return (await this.statesOf([tenantId])).get(tenantId) ?? { version: 0, keptFrom: 0 };
  }

  get #changes(): ScopedTable<TenantryChange> {
    return new ScopedTable(this.#unitOfWork.connections(), TenantryChange);
  }
}

/** The first entries after a place. A commit makes all of its entries visible at once, after those of earlier versions. */
export function changesAfter(
  changes: ScopedTable<TenantryChange>,
  tenantId: string,
  after: Position,
  { upTo, limit, ...filters }: After,
): Promise<TenantryChange[]> {
  const version = And(MoreThanOrEqual(after.version), LessThanOrEqual(upTo));
  const options = { order: BY_COMMIT, after: [after.version, after.seq], limit };
  return find(changes, { tenantId, version }, filters, options);
}

function find(
  changes: ScopedTable<TenantryChange>,
  range: FindOptionsWhere<TenantryChange>,
  { kinds, lineage, operation, resourceId, by, since, until }: ChangeFilters,
  options: FindOptions<TenantryChange>,
): Promise<TenantryChange[]> {
  const times = [since && MoreThanOrEqual(since), until && LessThanOrEqual(until)].filter(
    (each) => each !== undefined,
  );
  const where: FindOptionsWhere<TenantryChange> = {
    ...range,
    kind: In([...kinds]),
    ...(lineage !== undefined && {
      lineage: Raw((column) => `:instr(${column}, :code) > 0`, { code: `,${lineage},` }),
    }),
    ...(operation !== undefined && { operation }),
    ...(resourceId !== undefined && { resourceId }),
    ...(by !== undefined && { by }),
    ...(times.length > 0 && { happenedAt: And(...times) }),
  };
  const isOfOne = resourceId !== undefined && kinds.length === 1;
  return changes.find(where, isOfOne ? { ...options, index: OF_RESOURCE } : options);
}

function pageAfter({ version, seq }: Position) {
  return { order: BY_COMMIT, after: [version, seq], limit: PAGE, index: 'PRIMARY' };
}

/** Where the page after a full one begins. */
function lastOfFull<T>(entries: readonly T[]): T | undefined {
  return entries.length === PAGE ? entries.at(-1) : undefined;
}
