import { Injectable } from '@nestjs/common';
import type { Key } from '../../database/scoped-table';
import { HistoryErrors, HttpErrors } from '../../errors/http.errors';
import type { RequestContext } from '../../tenancy/request-context';
import { Clock } from '../../time/clock';
import { ZonedTime, type TimeSpan } from '../../time/zoned-time';
import { MAX_DEPTH } from '../../database/tree-path';
import { cutPage, FirstRows, type Page } from '../../database/page';
import type { DeptDto, DeptListQuery, DeptRowDto, DeptTreeDto, DeptTreeQuery } from '../dept.dto';
import { ROOT_ID, type DeptRow } from '../dept.entity';
import { DeptErrors } from '../dept.errors';
import { toDeptRow, toDeptView } from '../dept.mapper';
import { readLevels, toTree } from '../dept-list.service';
import type { DeptReader } from '../dept-reader.repository';
import { DeptRepository } from '../dept.repository';
import { NOT_A_TIME, type PastDeptTreeQuery } from './dept-history.dto';
import { DeptJournal, type DeptJournalReader } from './dept-journal.repository';
import { PastDepts, PastTree } from './past-depts';

const IN_FUTURE = { zh: '不能晚于现在', en: 'must not be in the future' };
const NO_FILTERS = {
  zh: '不能与 status、deptName 一起使用',
  en: 'cannot be used together with status and deptName',
};

/** The departments of a tenant as they were. */
@Injectable()
export class DeptHistory {
  constructor(
    private readonly depts: DeptRepository,
    private readonly journal: DeptJournal,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
  ) {}

  /**
   * The departments at a version or a time, as a number, a `Date` or a text: digits are a version; `YYYY-MM-DD` is the end
   * of that day and `YYYY-MM-DD HH:MM:SS` the end of that second, in the time zone of the module; or ISO 8601.
   */
  async at(
    ctx: RequestContext,
    when: Date | number | string,
    field = 'asOf',
    journal = this.journal.in(ctx),
  ): Promise<DeptsAt> {
    const version =
      typeof when === 'number' || (typeof when === 'string' && /^[0-9]+$/.test(when))
        ? await existingVersion(journal, Number(when), field)
        : await journal.findVersionAt(this.#momentOf(when, field));
    return new DeptsAt(version, this.depts.in(ctx), journal, this.time);
  }

  async get(ctx: RequestContext, deptId: number, when: string): Promise<DeptDto> {
    return (await this.at(ctx, when)).get(deptId);
  }

  async tree(ctx: RequestContext, query: PastDeptTreeQuery): Promise<DeptTreeDto> {
    const { asOf = '', status, deptName } = query;
    if (status !== undefined || deptName !== undefined)
      throw HttpErrors.INVALID({ fields: [{ field: 'asOf', message: NO_FILTERS }] });
    return (await this.at(ctx, asOf)).tree(query);
  }

  /** Whether the tenant has or had such a department. */
  everHad(ctx: RequestContext, deptId: number): Promise<boolean> {
    return this.depts.in(ctx).everHad(deptId);
  }

  /** The last moment of a time that has begun. */
  #momentOf(when: Date | string, field: string): Date {
    const span: TimeSpan | null = when instanceof Date ? { from: when, until: when } : this.time.parse(when);
    if (!span) throw HttpErrors.INVALID({ fields: [{ field, message: NOT_A_TIME }] });
    const now = this.clock.now();
    if (span.from > now) throw HttpErrors.INVALID({ fields: [{ field, message: IN_FUTURE }] });
    return span.until < now ? span.until : now;
  }
}

async function existingVersion(journal: DeptJournalReader, version: number, field: string): Promise<number> {
  if (version > (await journal.findVersion()))
    throw HttpErrors.INVALID({ fields: [{ field, message: IN_FUTURE }] });
  return version;
}

type Placed = Pick<DeptRow, 'orderNum' | 'deptId'>;

function inOrder(a: Placed, b: Placed): number {
  return a.orderNum - b.orderNum || a.deptId - b.deptId;
}

function matches(row: DeptRow, { deptName, leader, status }: DeptListQuery): boolean {
  return (
    row.status === (status ?? row.status) &&
    row.leader === (leader ?? row.leader) &&
    row.deptName.includes(deptName ?? '')
  );
}

/** All departments of a tenant at one version. */
export class DeptsAt {
  readonly #depts: DeptReader;
  readonly #journal: DeptJournalReader;

  constructor(
    readonly version: number,
    depts: DeptReader,
    journal: DeptJournalReader,
    private readonly time: ZonedTime,
  ) {
    this.#depts = depts;
    this.#journal = journal;
  }

  get(deptId: number): Promise<DeptDto> {
    return this.#journal.reading(async () => {
      const dept = await this.#find(deptId);
      await this.refuseGone();
      return toDeptView(dept, this.time);
    });
  }

  /** The children of a department, or of the top level, ordered by `orderNum` and `deptId`. */
  async children(parentId = ROOT_ID): Promise<DeptRowDto[]> {
    return (await this.findPage({ parentId }, null, Infinity)).rows;
  }

  /** A page of the children that match. */
  findPage(query: DeptListQuery, after: Key | null, limit: number): Promise<Page<DeptRowDto>> {
    return this.#journal.reading(async () => {
      const { parentId = ROOT_ID } = query;
      const tree = this.#treeBelow(parentId === ROOT_ID ? null : await this.#find(parentId));
      const first = new FirstRows<DeptRow>(limit + 1, inOrder);
      const [, orderNum = -Infinity, deptId = 0] = (after ?? []).map(Number);
      for await (const rows of tree.childrenOf([parentId]))
        for (const row of rows)
          if (matches(row, query) && inOrder(row, { orderNum, deptId }) > 0) first.add(row);
      const { rows, hasMore, last } = cutPage(first.all(), limit, (row) => [
        this.version,
        row.orderNum,
        row.deptId,
      ]);
      const parents = new Set(await tree.findParents(rows.map((row) => row.deptId)));
      await this.refuseGone();
      return {
        rows: rows.map((row) => toDeptRow(row, this.time, parents.has(row.deptId))),
        hasMore,
        last,
      };
    });
  }

  /** The tree, or the part below a root: up to 5,000 departments. */
  tree({ rootId, depth }: Pick<DeptTreeQuery, 'rootId' | 'depth'> = {}): Promise<DeptTreeDto> {
    return this.#journal.reading(async () => {
      const root = rootId ? await this.#find(rootId) : null;
      const tree = this.#treeBelow(root);
      const shown = await toTree(tree, root, await readLevels(tree, root, depth ?? MAX_DEPTH), this.time);
      await this.refuseGone();
      return shown;
    });
  }

  /** The names from the top down to each of these departments. */
  findPaths(deptIds: readonly number[]): Promise<Map<number, string[]>> {
    return this.#journal.reading(async () => {
      const past = new PastDepts(this.version, this.#depts, this.#journal);
      await past.load(deptIds);
      return new Map(deptIds.map((id) => [id, past.chainTo(id).map(({ deptName }) => deptName)]));
    });
  }

  /** After entries were read, because some may have been removed meanwhile. */
  async refuseGone(): Promise<void> {
    if (this.version < (await this.#journal.findKeptFrom())) throw HistoryErrors.GONE();
  }

  async #find(deptId: number): Promise<DeptRow> {
    const past = new PastDepts(this.version, this.#depts, this.#journal);
    await past.load([deptId]);
    const dept = past.chainTo(deptId).at(-1);
    if (dept) return dept;
    await this.refuseGone();
    throw DeptErrors.NOT_FOUND();
  }

  #treeBelow(root: DeptRow | null): PastTree {
    return new PastTree(this.version, this.#depts, this.#journal, root);
  }
}
