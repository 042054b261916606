import { Injectable } from '@nestjs/common';
import type { ChangedFields, JournalFields } from '../../database/change-log';
import { HttpErrors } from '../../errors/http.errors';
import type { RequestContext } from '../../tenancy/request-context';
import { TimeSlices } from '../../time/time-slices';
import { ZonedTime } from '../../time/zoned-time';
import type { ChangeDto } from '../../web/change.dto';
import { toChangeDto } from '../../web/change-view';
import { Cursors, cutPage, filtersOf, type PageView } from '../../web/page';
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
import { DeptJournal, ENTRIES_AT_ONCE, type DeptChangeEntry } from './dept-journal.repository';

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
    private readonly cursors: Cursors,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the children of a department as they were. All pages show the version that the first one has found. */
  list(ctx: RequestContext, query: PastDeptListQuery): Promise<PageView<DeptRowDto>> {
    const { asOf = '', parentId, ancestorId, ids, deleted = false } = query;
    if (parentId === undefined || ancestorId !== undefined || ids !== undefined || deleted)
      throw HttpErrors.INVALID({ fields: [{ field: 'asOf', message: ONLY_CHILDREN }] });
    return this.cursors.page(['past-dept', ctx.tenantId, filtersOf(query)], query, async (after, limit) => {
      const depts = await this.past.at(ctx, after ? Number(after[0]) : asOf);
      return depts.findPage(query, after, limit);
    });
  }

  /** A page of all that was done to one department, the newest first. */
  async history(ctx: RequestContext, deptId: number, query: PageQuery): Promise<PageView<ChangeDto>> {
    const page = await this.cursors.page(['dept-history', ctx.tenantId, deptId], query, (after, limit) =>
      this.journal.in(ctx).findPage(deptId, after, limit),
    );
    if (page.rows.length === 0 && !(await this.past.everHad(ctx, deptId))) throw DeptErrors.NOT_FOUND();
    return { ...page, rows: page.rows.map((entry) => toChangeDto(entry, this.time, ctx.tenantId)) };
  }

  /** A page of the departments that differ between two versions: what was created first, what was deleted last. */
  async diff(ctx: RequestContext, query: DeptDiffQuery): Promise<PageView<DeptDiffDto>> {
    return this.cursors.page(['dept-diff', ctx.tenantId, filtersOf(query)], query, async (after, limit) => {
      const [from, to] = await this.#bothEnds(ctx, query, after);
      const [, , rank = -1, deptId = 0] = (after ?? []).map(Number);
      const rankOf = ({ change }: NetChange): number => DEPT_CHANGES.indexOf(change);
      const changes = (await this.#netChanges(ctx, from.version, to.version))
        .filter((each) => rankOf(each) > rank || (rankOf(each) === rank && each.deptId > deptId))
        .sort((a, b) => rankOf(a) - rankOf(b) || a.deptId - b.deptId);
      const { rows, hasMore, last } = cutPage(changes, limit, (each) => [
        ...[from.version, to.version],
        ...[rankOf(each), each.deptId],
      ]);
      const shown = await this.#shown(rows, from, to);
      await from.refuseGone();
      return { rows: shown, hasMore, last };
    });
  }

  async #bothEnds(
    ctx: RequestContext,
    query: DeptDiffQuery,
    after: readonly (string | number)[] | null,
  ): Promise<[DeptsAt, DeptsAt]> {
    const [first, second] = (after ?? []).map(Number);
    const latest = () => this.journal.in(ctx).findVersion();
    const to = await this.past.at(ctx, second ?? query.to ?? (await latest()), 'to');
    const from = await this.past.at(ctx, first ?? query.from, 'from');
    if (from.version > to.version)
      throw HttpErrors.INVALID({ fields: [{ field: 'from', message: AFTER_TO }] });
    return [from, to];
  }

  async #netChanges(ctx: RequestContext, from: number, to: number): Promise<NetChange[]> {
    const slices = new TimeSlices();
    const next = this.journal.in(ctx).following(from);
    const sums = new Map<number, Sum>();
    for (let isMore = true; isMore;) {
      const entries = await next();
      for (const entry of entries) {
        if (slices.isOver) await slices.next();
        if (entry.version <= to) addTo(sums, entry);
      }
      isMore = entries.length === ENTRIES_AT_ONCE && (entries.at(-1)?.version ?? 0) <= to;
    }
    return [...sums].flatMap(([deptId, sum]) => netChange(deptId, sum) ?? []);
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
