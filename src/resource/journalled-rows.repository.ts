import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { In, type FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { AuditStamp, type Audited } from '../database/audited';
import type { DomainEvent } from '../database/domain-events';
import { chunksOf } from '../database/in-chunks';
import type { OpenUnit } from '../database/open-unit';
import { Interrupted } from '../database/retrier';
import { isDuplicate } from '../database/retry-policy';
import type { ScopedTable } from '../database/scoped-table';
import { padded } from '../database/sql-statement';
import {
  changedFields,
  ChangeLog,
  type ChangeKind,
  type ChangeOperation,
  type JournalFields,
} from '../journal/change-log';
import type { RequestContext } from '../tenancy/request-context';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';

/** What the journal, its readers and the doctor know of a kind of resource. */
export interface Journalled<E extends Audited = Audited> {
  readonly kind: ChangeKind;
  /** What messages call it. */
  readonly noun: string;
  readonly entity: new () => E;
  /** The property that is its id. */
  readonly id: string;
  /** The fields that the journal keeps. */
  toJournal(row: E): JournalFields;
  /** Of tenants, whose entries stand in the journal of the platform: the codes down to the tenant itself, between commas. */
  lineageOf?(row: E): string;
  /** What is emitted after the COMMIT. `before` differs from `row` where it was updated or moved. */
  toEvent?(operation: ChangeOperation, ctx: RequestContext, row: E, before: E): DomainEvent;
}

/** How many rows that bring their ids one statement writes. */
const BATCH = 100;

type Values<E> = QueryDeepPartialEntity<E>;
type Write<E> = (where: FindOptionsWhere<E>, values: Values<E>) => Promise<unknown>;

/** A row as it is, and what some of its columns become. */
export interface RowChange<E, K extends keyof E> {
  readonly row: E;
  readonly values: Pick<E, K>;
}

/**
 * Writes the rows of one kind of resource, in a unit of work that locks their tree: stamps who and when, raises the revision,
 * notes what has changed for the journal, and emits the event. Nothing else writes them.
 */
export class JournalledRows<E extends Audited> {
  readonly #audit: AuditStamp;

  constructor(
    private readonly unit: OpenUnit,
    private readonly ctx: RequestContext,
    private readonly now: Date,
    private readonly resource: Journalled<E>,
    private readonly table: ScopedTable<E>,
  ) {
    this.#audit = new AuditStamp(ctx.username, now);
  }

  /** Adds rows in one statement; gives the ids that the database made, in the same order. */
  async insert(...rows: readonly Values<E>[]): Promise<number[]> {
    const { id } = this.resource;
    const created = Object.assign({ delFlag: '0' }, this.#audit.created());
    const stamped = rows.map((row) => Object.assign({}, row, created) as Values<E>);
    const ids =
      stamped.length === 1
        ? [await this.table.insert(...stamped)]
        : await this.table.insertMany(stamped, id as keyof E & string);
    if (ids.length < rows.length) throw new Error('The database gave fewer ids than rows.');
    for (const [index, row] of stamped.entries())
      this.#note('created', null, Object.assign({ [id]: ids[index] }, row) as unknown as E);
    return ids;
  }

  /**
   * Adds rows that bring their ids, and their stamps where they have any. The one with the greatest id is the first: from then on
   * the database makes ids beyond it, also for others.
   */
  async adopt(rows: readonly Values<E>[]): Promise<void> {
    const created = Object.assign({ delFlag: '0' }, this.#audit.created());
    const idOf = (row: Values<E>): number => Number(this.#idOf(row as unknown as E));
    const write = async (batch: readonly Values<E>[]): Promise<void> => {
      const stamped = batch.map((row) => Object.assign({}, created, row) as Values<E>);
      if (stamped.length > 0) await this.table.insertAll(stamped, {});
    };
    const last = rows.reduce((greatest, row) => Math.max(greatest, idOf(row)), 0);
    await this.table.passIds(last);
    try {
      await write(rows.filter((row) => idOf(row) === last));
      for (const batch of chunksOf(rows, BATCH)) {
        await write(batch.filter((row) => idOf(row) !== last));
        for (const row of batch) this.#note('created', null, Object.assign({}, created, row) as unknown as E);
        await yieldToEventLoop();
      }
    } catch (error) {
      // Somebody else was about to take one of the ids: the next try finds it taken.
      throw isDuplicate(error) ? new Interrupted('conflict', error) : error;
    }
  }

  /** Gives the new revision. */
  async update(row: E, values: Values<E>, operation: 'updated' | 'moved' = 'updated'): Promise<number> {
    const changed = Object.assign({}, values, this.#audit.touched());
    await this.table.update(this.#where([row], '0'), changed);
    this.#note(operation, row, Object.assign({}, row, changed));
    return row.revision + 1;
  }

  /** Changes some columns of rows, each in its own way, in one statement. */
  async updateEach<K extends keyof E & string>(
    changes: readonly RowChange<E, K>[],
    columns: readonly K[],
  ): Promise<void> {
    const named: Record<string, string | number | null> = {};
    const id = this.table.columnName(this.resource.id as keyof E & string);
    const values = columns.map((name) => {
      const cases = padded(changes).map(({ row, values: own }, index) => {
        named[`row${index}`] = String(this.#idOf(row));
        named[`${name}${index}`] = own[name] as string | number | null;
        return `WHEN :row${index} THEN :${name}${index}`;
      });
      return [name, () => `CASE ${id} ${cases.join(' ')} ELSE ${this.table.columnName(name)} END`] as const;
    });
    const touched = this.#audit.touched();
    const rows = changes.map(({ row }) => row);
    const all = { ...Object.fromEntries(values), ...touched } as Values<E>;
    await this.table.update(this.#where(rows, '0'), all, named);
    for (const { row, values: own } of changes)
      this.#note('updated', row, Object.assign({}, row, own, touched));
  }

  /** Soft delete. */
  async markDeleted(rows: readonly E[], more: Values<E> = {}): Promise<void> {
    const deleted = Object.assign({ delFlag: '2' }, more, this.#audit.touched());
    await this.#inSlices(rows, (slice) => this.table.update(this.#where(slice, '0'), deleted));
    for (const row of rows) this.#note('deleted', row, null);
  }

  /** Makes deleted rows live again. */
  async restore(
    rows: readonly E[],
    more: Values<E>,
    write: Write<E> = (where, values) => this.table.update(where, values),
  ): Promise<void> {
    const live = Object.assign({ delFlag: '0' }, more, this.#audit.touched());
    await this.#inSlices(rows, (slice) => write(this.#where(slice, '2'), live));
    for (const row of rows) this.#note('restored', null, Object.assign({}, row, live));
  }

  /** All indexes change with the flag: on SQLite one statement for 10,000 rows would hold up every other request. */
  async #inSlices(rows: readonly E[], write: (slice: readonly E[]) => Promise<unknown>): Promise<void> {
    for (const slice of chunksOf(rows)) {
      await write(slice);
      await yieldToEventLoop();
    }
  }

  #idOf(row: E): string | number {
    return (row as Readonly<Record<string, unknown>>)[this.resource.id] as string | number;
  }

  #where(rows: readonly E[], delFlag: '0' | '2'): FindOptionsWhere<E> {
    const ids = rows.map((row) => this.#idOf(row));
    return { [this.resource.id]: ids.length === 1 ? ids[0] : In(ids), delFlag } as FindOptionsWhere<E>;
  }

  #note(operation: ChangeOperation, before: E | null, after: E | null): void {
    const { resource, ctx } = this;
    const row = after ?? before;
    if (!row) return;
    // What has moved is updated as well.
    for (const each of operation === 'moved' ? ([operation, 'updated'] as const) : [operation]) {
      const event = resource.toEvent?.(each, ctx, row, before ?? row);
      if (event) this.unit.emit(event);
    }
    const [from, to] = [before && resource.toJournal(before), after && resource.toJournal(after)];
    const path = resource.lineageOf?.(row);
    const oldPath = operation === 'moved' && before ? resource.lineageOf?.(before) : undefined;
    const { kind } = resource;
    const { tenantId, username: by, requestId } = ctx;
    this.unit.part(ChangeLog).note({
      tenantId: path === undefined ? tenantId : PLATFORM_TENANT,
      ...{ kind, operation, resourceId: String(this.#idOf(row)), by, requestId, happenedAt: this.now },
      ...(path !== undefined && { lineage: oldPath === undefined ? path : `${oldPath};${path}` }),
      ...(from && to ? changedFields(from, to) : { before: from, after: to }),
    });
  }
}
