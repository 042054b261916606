import { Injectable } from '@nestjs/common';
import { CHANGE_KINDS, type TenantryChange } from '../journal/change-log';
import { HttpErrors } from '../errors/http.errors';
import type { RequestContext } from '../tenancy/request-context';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { ZonedTime } from '../time/zoned-time';
import { ChangeCursors, openPosition, sealPosition, type FollowerPosition } from '../journal/change-cursor';
import { endOf, type Position } from '../journal/journal-state';
import { toChangeView } from '../journal/change-view';
import type { ChangeDto } from '../web/change.dto';
import { filtersOf, type PageView } from '../database/page';
import { NOT_A_TIME } from '../web/fields';
import { NOT_A_REQUEST } from '../web/work-place';
import {
  ChangeReader,
  CLOCKS_APART_MS,
  followedBy,
  type ChangeFilters,
} from '../journal/change-reader.repository';
import { ChangeWaiters } from './change-waiters';
import { journalTopic, tenantsTopic } from '../journal/journal-watch';
import type { ChangeQuery } from './change.dto';
import { JournalErrors } from './journal.errors';

/** So many versions are looked through for one page; where none of them matches, the page is short and the next one goes on. */
const MOST_EXAMINED = 25_000;

/** A cursor that version 0.3 has signed; its followers begin anew, as after any cursor that is no longer good. */
const OF_0_3 = /^[\w-]+\.[\w-]{22}$/;

/** One of the journals that a caller follows, and how far. */
interface FollowedJournal {
  readonly tenantId: string;
  readonly filters: ChangeFilters;
  readonly at: Position;
}

/** What was read of a journal, and where its reader stands when it has taken all of it. */
interface Part extends FollowedJournal {
  readonly entries: readonly TenantryChange[];
  readonly end: Position;
  readonly hasMore: boolean;
}

/** Which changes, for code of the host; as the parameters of `GET /system/change-api`. */
export type ChangeOptions = Omit<ChangeQuery, 'after' | 'wait' | 'order'> & { readonly waitSeconds?: number };

/** What has changed: in the caller's tenant, and of the tenants at and below it. */
@Injectable()
export class ChangeFeed {
  constructor(
    private readonly reader: ChangeReader,
    private readonly changeCursors: ChangeCursors,
    private readonly waiters: ChangeWaiters,
    private readonly time: ZonedTime,
  ) {}

  /**
   * The changes after a cursor, in the order of their commits; from the oldest that is kept without one. `now` gives only a
   * cursor. `nextCursor` is never null: it goes on where this page ends.
   */
  async since(
    ctx: RequestContext,
    cursor: string | undefined,
    { waitSeconds = 0, limit = 100, ...query }: ChangeOptions = {},
    idle = NOT_A_REQUEST,
  ): Promise<PageView<ChangeDto>> {
    if (cursor === 'now') {
      const nextCursor = sealPosition([ctx.tenantId], await this.changeCursors.now(ctx));
      return { rows: [], nextCursor, hasMore: false };
    }
    if (cursor !== undefined && OF_0_3.test(cursor)) throw JournalErrors.CURSOR_GONE();
    const filters = this.#filtersOf(query);
    const start =
      cursor === undefined ? await this.changeCursors.oldest(ctx) : openPosition([ctx.tenantId], cursor);
    const read = () => this.#read(ctx, start, filters, limit);
    if (waitSeconds === 0) return read();
    const topics = followed(ctx, start, filters).map(({ tenantId, filters: { lineage } }) =>
      lineage === undefined ? journalTopic(tenantId) : tenantsTopic(lineage),
    );
    const name = JSON.stringify([ctx.tenantId, start, filters, limit]);
    return this.waiters.until({ ctx, topics, name, read }, waitSeconds * 1000, idle);
  }

  /** The changes for people to read: the newest first. */
  async latest(
    ctx: RequestContext,
    { limit = 100, after, ...query }: ChangeQuery,
  ): Promise<PageView<ChangeDto>> {
    const listed = ['desc', ctx.tenantId, filtersOf(query)];
    const filters = this.#filtersOf(query);
    const start = after === undefined ? await this.changeCursors.now(ctx) : openPosition(listed, after);
    const parts = await Promise.all(
      followed(ctx, start, filters).map(async (each): Promise<Part> => {
        const { first, last } = await this.#versionsWithin(each);
        const at = last < each.at.version ? endOf(last) : each.at;
        const from = Math.max(first, at.version - MOST_EXAMINED);
        const wanted = { ...each.filters, from, limit: limit + 1 };
        const entries = await this.reader.findBefore(each.tenantId, at, wanted);
        const hasMore = entries.length > limit || from > first;
        return { ...each, entries, end: { version: from, seq: 0 }, hasMore };
      }),
    );
    const page = this.#merge(ctx, parts, limit, (a, b) => b.happenedAt.getTime() - a.happenedAt.getTime());
    const { rows, hasMore } = page;
    return { rows, nextCursor: hasMore ? sealPosition(listed, page.at(start)) : null, hasMore };
  }

  /** Between which versions the times lie that are asked for. The times themselves decide; this spares reading the rest. */
  async #versionsWithin({ tenantId, filters }: FollowedJournal): Promise<{ first: number; last: number }> {
    const { since, until } = filters;
    const versionAt = (time: Date, shift: number) =>
      this.reader.versionAt(tenantId, new Date(time.getTime() + shift));
    return {
      first: since ? await versionAt(since, -CLOCKS_APART_MS) : 0,
      last: until ? await versionAt(until, CLOCKS_APART_MS) : Infinity,
    };
  }

  async #read(
    ctx: RequestContext,
    start: FollowerPosition,
    filters: ChangeFilters,
    limit: number,
  ): Promise<PageView<ChangeDto>> {
    const journals = await Promise.all(
      followed(ctx, start, filters).map(async (each) => {
        const { first } = await this.#versionsWithin(each);
        return first > each.at.version ? { ...each, at: endOf(first - 1) } : each;
      }),
    );
    const read = await Promise.all(
      journals.map(({ tenantId, at, filters: own }) =>
        this.reader.findAfter(tenantId, at, { ...own, upTo: at.version + MOST_EXAMINED, limit: limit + 1 }),
      ),
    );
    // Afterwards: what is removed while it is read must not be missing in silence.
    const states = await this.reader.statesOf(journals.map(({ tenantId }) => tenantId));
    const parts = journals.map((journal, index): Part => {
      const { tenantId, at } = journal;
      const { version, keptFrom } = states.get(tenantId) ?? { version: 0, keptFrom: 0 };
      if (at.version < keptFrom) throw JournalErrors.CURSOR_GONE();
      const entries = read[index] ?? [];
      const upTo = at.version + MOST_EXAMINED;
      const isBounded = entries.length <= limit && upTo < version;
      const end = isBounded ? endOf(upTo) : (entries.at(-1) ?? at);
      return { ...journal, entries, end, hasMore: isBounded || entries.length > limit };
    });
    const page = this.#merge(ctx, parts, limit, (a, b) => a.happenedAt.getTime() - b.happenedAt.getTime());
    const nextCursor = sealPosition([ctx.tenantId], page.at(start));
    return { rows: page.rows, nextCursor, hasMore: page.hasMore };
  }

  /** Takes so many entries of all journals, of each in its own order, and tells where that leaves the reader. */
  #merge(
    { tenantId: caller }: RequestContext,
    parts: readonly Part[],
    limit: number,
    order: (a: TenantryChange, b: TenantryChange) => number,
  ) {
    const queues = parts.map(({ tenantId, at, end, entries }) => ({ tenantId, at, end, rest: [...entries] }));
    const rows: ChangeDto[] = [];
    while (rows.length < limit) {
      const heads = queues.flatMap((queue) => queue.rest.slice(0, 1).map((entry) => ({ queue, entry })));
      const [first] = heads.sort((a, b) => order(a.entry, b.entry));
      if (!first) break;
      first.queue.rest.shift();
      first.queue.at = first.entry;
      rows.push(toChangeView(first.entry, this.time, caller));
    }
    const placeIn = (journal: string): Position | undefined => {
      const queue = queues.find(({ tenantId }) => tenantId === journal);
      return queue?.rest.length === 0 ? queue.end : queue?.at;
    };
    return {
      rows,
      hasMore: queues.some(({ rest }) => rest.length > 0) || parts.some(({ hasMore }) => hasMore),
      at: ({ own, platform }: FollowerPosition): FollowerPosition => ({
        own: placeIn(caller) ?? own,
        platform: placeIn(PLATFORM_TENANT) ?? platform,
      }),
    };
  }

  #filtersOf({ kinds, kind, operation, id, by, from, to }: ChangeOptions): ChangeFilters {
    const all = kinds ?? CHANGE_KINDS;
    const [since, until] = [this.#timeOf('from', from), this.#timeOf('to', to)];
    return {
      kinds: kind ? all.filter((each) => each === kind) : all,
      ...{ operation, resourceId: id, by, since, until },
    };
  }

  #timeOf(field: 'from' | 'to', text: string | undefined): Date | undefined {
    if (text === undefined || text === '') return undefined;
    const span = this.time.parse(text);
    if (!span) throw HttpErrors.INVALID({ fields: [{ field, message: NOT_A_TIME }] });
    return field === 'to' ? span.until : span.from;
  }
}

function followed(
  { tenantId: caller }: RequestContext,
  { own, platform }: FollowerPosition,
  filters: ChangeFilters,
): FollowedJournal[] {
  return followedBy(caller, filters.kinds).map(({ journal, ...wanted }) => ({
    tenantId: journal,
    filters: { ...filters, ...wanted },
    at: journal === caller ? own : platform,
  }));
}
