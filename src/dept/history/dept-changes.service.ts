import { Injectable } from '@nestjs/common';
import { HISTORY, type ChangedFields, type JournalFields } from '../../journal/change-log';
import { chunksOf } from '../../database/in-chunks';
import { HttpErrors } from '../../errors/http.errors';
import type { RequestContext } from '../../tenancy/request-context';
import { TimeSlices } from '../../time/time-slices';
import { ZonedTime } from '../../time/zoned-time';
import type { ChangeDto } from '../../web/change.dto';
import { toChangeView } from '../../journal/change-view';
import { cutPage, filtersOf, FirstRows, PagedList, type PageView } from '../../database/page';
import type { PageQuery } from '../../web/page-query.dto';
import type { DeptRowDto } from '../dept.dto';
import { DEPT_DETAILS } from '../dept.entity';
import { DeptErrors } from '../dept.errors';
import {
  DEPT_CHANGES,
  type DeptChangeKind,
  type DeptDiffDto,
  type DeptDiffQuery,
  type FieldChangeDto,
  type PastDeptListQuery,
} from './dept-history.dto';
import { DeptHistory, type DeptsAt } from './dept-history.service';
import { DeptJournal, type DeptChangeEntry, type DeptJournalReader } from './dept-journal.repository';

const PAST_DEPTS = new PagedList('past-dept', ['long', 'int', 'long']);
const DIFF = new PagedList('dept-diff', ['long', 'long', 'int', 'long']);
const COMPARED = ['deptName', 'parentId', ...DEPT_DETAILS] as const;
const AFTER_TO = { zh: '不能晚于 to', en: 'must not be after to' };
const ONLY_CHILDREN = {
  zh: '与 asOf 一起使用时，必须提供 parentId，且不支持 ancestorId、ids 和 deleted',
  en: 'with asOf, parentId must be sent, and ancestorId, ids and deleted must not',
};

/** What has become of one department between two versions. */
interface NetChange {
  readonly deptId: number;
  readonly change: DeptChangeKind;
  readonly fields: FieldChangeDto[];
  readonly last: DeptChangeEntry;
}

/** Lists of what was, and of what has changed. */
@Injectable()
export class DeptChanges {
  constructor(
    private readonly past: DeptHistory,
    private readonly journal: DeptJournal,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the children of a department as they were. All pages show the version that the first one has found. */
  list(ctx: RequestContext, query: PastDeptListQuery): Promise<PageView<DeptRowDto>> {
    const { asOf = '', parentId, ancestorId, ids, deleted = false } = query;
    if (parentId === undefined || ancestorId !== undefined || ids !== undefined || deleted)
      throw HttpErrors.INVALID({ fields: [{ field: 'asOf', message: ONLY_CHILDREN }] });
    return PAST_DEPTS.page([ctx.tenantId, filtersOf(query)], query, async (after, limit) => {
      const depts = await this.past.at(ctx, after ? Number(after[0]) : asOf);
      return depts.findPage(query, after, limit);
    });
  }

  /** A page of all that was done to one department, the newest first. */
  async history(ctx: RequestContext, deptId: number, query: PageQuery): Promise<PageView<ChangeDto>> {
    const page = await HISTORY.page(['dept', ctx.tenantId, deptId], query, (after, limit) =>
      this.journal.in(ctx).findPage(deptId, after, limit),
    );
    if (page.rows.length === 0 && !(await this.past.everHad(ctx, deptId))) throw DeptErrors.NOT_FOUND();
    return { ...page, rows: page.rows.map((entry) => toChangeView(entry, this.time, ctx.tenantId)) };
  }

  /** A page of the departments that differ between two versions: what was created first, what was deleted last. */
  async diff(ctx: RequestContext, query: DeptDiffQuery): Promise<PageView<DeptDiffDto>> {
    const journal = this.journal.in(ctx);
    return DIFF.page([ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      journal.reading(async () => {
        const [from, to] = await this.#bothEnds(ctx, query, after, journal);
        const [, , rank = -1, deptId = 0] = (after ?? []).map(Number);
        const changes = await firstChanges(journal, from.version, to.version, { rank, deptId }, limit + 1);
        const { rows, hasMore, last } = cutPage(changes, limit, (each) => [
          ...[from.version, to.version],
          ...[rankOf(each), each.deptId],
        ]);
        const shown = await this.#shown(rows, from, to);
        await from.refuseGone();
        return { rows: shown, hasMore, last };
      }),
    );
  }

  async #bothEnds(
    ctx: RequestContext,
    query: DeptDiffQuery,
    after: readonly (string | number)[] | null,
    journal: DeptJournalReader,
  ): Promise<[DeptsAt, DeptsAt]> {
    const [first, second] = (after ?? []).map(Number);
    const latest = () => journal.findVersion();
    const to = await this.past.at(ctx, second ?? query.to ?? (await latest()), 'to', journal);
    const from = await this.past.at(ctx, first ?? query.from, 'from', journal);
    if (from.version > to.version)
      throw HttpErrors.INVALID({ fields: [{ field: 'from', message: AFTER_TO }] });
    return [from, to];
  }

  async #shown(rows: readonly NetChange[], from: DeptsAt, to: DeptsAt): Promise<DeptDiffDto[]> {
    const idsOf = (...changes: DeptChangeKind[]) =>
      rows.filter(({ change }) => changes.includes(change)).map(({ deptId }) => deptId);
    const [created, moved, renamed, changed, deleted] = DEPT_CHANGES;
    const before = await from.findPaths(idsOf(moved, deleted));
    const after = await to.findPaths(idsOf(created, moved, renamed, changed));
    return rows.map(({ deptId, change, fields, last }) => {
      const names = (change === deleted ? before : after).get(deptId) ?? [];
      return {
        deptId,
        change,
        deptName: names.at(-1) ?? '',
        path: names.join(' / '),
        pathBefore: change === moved ? (before.get(deptId) ?? []).join(' / ') : null,
        fields,
        by: last.by,
        time: this.time.format(last.happenedAt),
      };
    });
  }
}

function rankOf({ change }: Pick<NetChange, 'change'>): number {
  return DEPT_CHANGES.indexOf(change);
}

function byRank(a: NetChange, b: NetChange): number {
  return rankOf(a) - rankOf(b) || a.deptId - b.deptId;
}

/** A place among the changes. */
interface ChangePlace {
  readonly rank: number;
  readonly deptId: number;
}

/**
 * The first changes between two versions after a place. Of all entries it keeps one number for each department; their fields are read
 * some departments at a time, and of those that were created or deleted only for the ones that come first.
 */
async function firstChanges(
  journal: DeptJournalReader,
  from: number,
  to: number,
  after: ChangePlace,
  limit: number,
): Promise<NetChange[]> {
  const { created, kept, deleted } = await touchedBetween(journal, from, to);
  const isNext = ({ rank, deptId }: ChangePlace) =>
    rank > after.rank || (rank === after.rank && deptId > after.deptId);
  const firstOf = (change: DeptChangeKind, deptIds: readonly number[]) =>
    deptIds.filter((deptId) => isNext({ rank: rankOf({ change }), deptId })).slice(0, limit);
  const first = new FirstRows<NetChange>(limit, byRank);
  for (const deptIds of [firstOf('created', created), kept, firstOf('deleted', deleted)]) {
    if (first.all().length === limit) break;
    for (const chunk of chunksOf(deptIds))
      for (const change of await netChanges(journal, chunk, from, to))
        if (isNext({ rank: rankOf(change), deptId: change.deptId })) first.add(change);
  }
  return first.all();
}

/** Whether a department was there before, and whether it is there after. */
const BEFORE = 1;
const AFTER = 2;
const CREATING: ReadonlySet<string> = new Set(['created', 'restored']);

/** The departments that anything was done to between two versions, in the order of their ids. */
async function touchedBetween(
  journal: DeptJournalReader,
  from: number,
  to: number,
): Promise<Record<'created' | 'kept' | 'deleted', number[]>> {
  const slices = new TimeSlices();
  const ends = new Map<number, number>();
  for await (const steps of journal.following(from, { until: to })())
    for (const { resourceId, operation } of steps) {
      if (slices.isOver) await slices.next();
      const deptId = Number(resourceId);
      const before = ends.get(deptId) ?? (CREATING.has(operation) ? 0 : BEFORE);
      ends.set(deptId, operation === 'deleted' ? before & BEFORE : before | AFTER);
    }
  const found: number[][] = [[], [], [], []];
  for (const [deptId, end] of ends) {
    if (slices.isOver) await slices.next();
    found[end]?.push(deptId);
  }
  const [, deleted = [], created = [], kept = []] = found.map((ids) => ids.sort((a, b) => a - b));
  return { created, kept, deleted };
}

async function netChanges(
  journal: DeptJournalReader,
  deptIds: readonly number[],
  from: number,
  to: number,
): Promise<NetChange[]> {
  const sums = new Map<number, Sum>();
  for await (const entries of journal.findOf(deptIds, from, to))
    for (const entry of entries) addTo(sums, entry);
  return [...sums].flatMap(([deptId, sum]) => netChange(deptId, sum) ?? []);
}

/** All entries of one department: the earliest value before, and the latest value after, of each field. */
interface Sum {
  readonly before: JournalFields | null;
  readonly after: JournalFields | null;
  readonly last: DeptChangeEntry;
}

function addTo(sums: Map<number, Sum>, entry: DeptChangeEntry): void {
  const { before, after } = JSON.parse(entry.fields) as ChangedFields;
  const deptId = Number(entry.resourceId);
  const known = sums.get(deptId);
  sums.set(deptId, {
    before: known ? known.before && { ...before, ...known.before } : before,
    after: after && { ...known?.after, ...after },
    last: entry,
  });
}

/** Null when it did not exist at both ends, or nothing differs. */
function netChange(deptId: number, { before, after, last }: Sum): NetChange | null {
  if (!before && !after) return null;
  if (!before) return { deptId, change: 'created', fields: [], last };
  if (!after) return { deptId, change: 'deleted', fields: [], last };
  const differs = COMPARED.filter((field) => field in after && before[field] !== after[field]);
  if (differs.length === 0) return null;
  const change = differs.includes('parentId')
    ? 'moved'
    : differs.includes('deptName')
      ? 'renamed'
      : 'changed';
  const fields = differs.map((field) => ({ field, before: before[field], after: after[field] }));
  return { deptId, change, fields: fields as FieldChangeDto[], last };
}
