import { Injectable } from '@nestjs/common';
import { cutPage, filtersOf, PagedList, type PageView } from '../../database/page';
import { HttpErrors } from '../../errors/http.errors';
import { ChangeReader } from '../../journal/change-reader.repository';
import { toChangeView } from '../../journal/change-view';
import type { RequestContext } from '../../tenancy/request-context';
import { ZonedTime } from '../../time/zoned-time';
import type { ChangeDto } from '../../web/change.dto';
import type { PageQuery } from '../../web/page-query.dto';
import { NOT_A_REQUEST } from '../../web/work-place';
import type { DeptDto, DeptRowDto, DeptTreeDto, DeptTreeQuery } from '../dept.dto';
import { ROOT_ID } from '../dept.entity';
import { DeptErrors } from '../dept.errors';
import { existing, listed, readTree, refuseOutsidePart } from '../dept-list.service';
import { toDeptDto } from '../dept.mapper';
import type { DeptSource } from '../dept-reader.repository';
import { DeptRepository } from '../dept.repository';
import { DeptAsOf, type Moment } from './dept-as-of';
import { findDifferences, type DeptDifference } from './dept-diff';
import type { DeptJournal } from './dept-journal';
import type { DeptChangeKind, DeptDiffDto, DeptDiffQuery } from './dept-history.dto';
import type { PastDeptReader } from './past-dept-reader';

const DIFF = new PagedList('dept-diff', ['long', 'long', 'int', 'long']);
const AFTER_TO = { zh: '不能晚于 to', en: 'must not be after to' };

/** How the departments of a tenant were, and what has happened to them. */
@Injectable()
export class DeptHistory {
  constructor(
    private readonly depts: DeptRepository,
    private readonly asOf: DeptAsOf,
    private readonly journal: ChangeReader,
    private readonly time: ZonedTime,
  ) {}

  /**
   * The departments at a version or a time, as a number, a `Date` or a text: digits are a version; `YYYY-MM-DD` is the end
   * of that day and `YYYY-MM-DD HH:MM:SS` the end of that second, in the time zone of the module; or ISO 8601.
   */
  async at(ctx: RequestContext, when: Moment): Promise<DeptsAt> {
    return new DeptsAt(await this.asOf.versionAt(ctx, when), ctx, this.asOf, this.time);
  }

  /** A page of all that was done to one department, the newest first. */
  async history(ctx: RequestContext, deptId: number, query: PageQuery): Promise<PageView<ChangeDto>> {
    const depts = this.depts.in(ctx);
    await refuseOutsidePart(ctx, depts, deptId);
    const page = await this.journal.findHistory(ctx, 'dept', deptId, query);
    if (page.rows.length === 0 && !(await depts.everHad(deptId))) throw DeptErrors.NOT_FOUND();
    return { ...page, rows: page.rows.map((entry) => toChangeView(entry, this.time, ctx.tenantId)) };
  }

  /** A page of the departments that differ between two versions: what was created first, what was deleted last. */
  diff(ctx: RequestContext, query: DeptDiffQuery, idle = NOT_A_REQUEST): Promise<PageView<DeptDiffDto>> {
    return DIFF.page([ctx.tenantId, filtersOf(query)], query, async (after, limit) => {
      const [first, second, rank = -1, deptId = 0] = (after ?? []).map(Number);
      const to = await this.asOf.versionAt(ctx, second ?? query.to, 'to');
      const from = await this.asOf.versionAt(ctx, first ?? query.from, 'from');
      if (from > to) throw HttpErrors.INVALID({ fields: [{ field: 'from', message: AFTER_TO }] });
      const compare = async (journal: DeptJournal, at: (version: number) => PastDeptReader) => {
        const differences = await findDifferences(journal, [from, to], { rank, deptId }, limit + 1);
        const page = cutPage(differences, limit, (each) => [from, to, each.rank, each.deptId]);
        return { ...page, rows: await this.#shown(page.rows, at(from), at(to)) };
      };
      return this.asOf.readSince(ctx, from, compare, idle);
    });
  }

  async #shown(
    rows: readonly DeptDifference[],
    from: PastDeptReader,
    to: PastDeptReader,
  ): Promise<DeptDiffDto[]> {
    const idsOf = (isShown: (change: DeptChangeKind) => boolean) =>
      rows.filter(({ change }) => isShown(change)).map(({ deptId }) => deptId);
    const before = await from.findPaths(idsOf((change) => change === 'moved' || change === 'deleted'));
    const after = await to.findPaths(idsOf((change) => change !== 'deleted'));
    return rows.map(({ deptId, change, fields, last }) => {
      const names = (change === 'deleted' ? before : after).get(deptId) ?? [];
      return {
        deptId,
        change,
        deptName: names.at(-1) ?? '',
        path: names.join(' / '),
        pathBefore: change === 'moved' ? (before.get(deptId) ?? []).join(' / ') : null,
        fields,
        by: last.by,
        time: this.time.format(last.happenedAt),
      };
    });
  }
}

/** All departments of a tenant at one version. */
export class DeptsAt {
  readonly #read: <T>(work: (depts: DeptSource) => Promise<T>) => Promise<T>;

  constructor(
    readonly version: number,
    ctx: RequestContext,
    asOf: DeptAsOf,
    private readonly time: ZonedTime,
  ) {
    this.#read = (work) => asOf.read(ctx, version, work);
  }

  get(deptId: number): Promise<DeptDto> {
    return this.#read(async (depts) => toDeptDto(await existing(depts, deptId), this.time));
  }

  /** The children of a department, or of the top level, ordered by `orderNum` and `deptId`. */
  children(parentId = ROOT_ID): Promise<DeptRowDto[]> {
    return this.#read(async (depts) => {
      const { rows } = await depts.findPage({ parentId }, null, Infinity);
      return rows.map((row) => listed(row, this.time));
    });
  }

  /** The tree, or the part below a root: up to 5,000 departments. */
  tree(query: Pick<DeptTreeQuery, 'rootId' | 'depth'> = {}): Promise<DeptTreeDto> {
    return this.#read((depts) => readTree(depts, query, this.time));
  }
}
