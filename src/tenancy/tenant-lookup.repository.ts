import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { PreparedReads, Row } from '../database/prepared-reads';
import type { RequestContext } from './request-context';
import type { TenantOwned } from './tenant-owned';

/** So many rows one statement looks up. */
const MOST = 32;

interface Asked<E> {
  readonly id: number;
  readonly answer: (row: E | null) => void;
  readonly fail: (error: unknown) => void;
}

/** Which table, by which of its columns, and what rows must have besides. */
export interface LookupTable<E> {
  readonly entity: new () => E;
  readonly id: keyof E & string;
  readonly where: Readonly<Partial<Record<keyof E & string, string>>>;
}

/**
 * Looks up rows of one tenant by their ids. Those that are asked for in the same turn of the event loop share a
 * statement, which is sent when all of them have come: who asks after a write was committed sees it. Each tenant has
 * its own statement, and none is without the tenant.
 */
export class TenantLookup<E extends TenantOwned & ObjectLiteral> {
  readonly #asked = new Map<string, Asked<E>[]>();
  readonly #metadata: EntityMetadata;
  readonly #statements = new Map<number, string>();

  constructor(
    private readonly reads: PreparedReads,
    private readonly dataSource: DataSource,
    private readonly table: LookupTable<E>,
  ) {
    this.#metadata = dataSource.getMetadata(table.entity);
  }

  /** The row with this id, if it is the tenant's. */
  find({ tenantId }: RequestContext, id: number): Promise<E | null> {
    return new Promise((answer, fail) => {
      const asked = this.#asked.get(tenantId);
      if (asked) {
        asked.push({ id, answer, fail });
        return;
      }
      this.#asked.set(tenantId, [{ id, answer, fail }]);
      setImmediate(() => {
        this.#ask(tenantId);
      });
    });
  }

  #ask(tenantId: string): void {
    const asked = this.#asked.get(tenantId) ?? [];
    this.#asked.delete(tenantId);
    for (let from = 0; from < asked.length; from += MOST) {
      void this.#answer(tenantId, asked.slice(from, from + MOST));
    }
  }

  async #answer(tenantId: string, asked: readonly Asked<E>[]): Promise<void> {
    try {
      const ids = [...new Set(asked.map(({ id }) => String(id)))];
      const places = placesFor(ids.length);
      // The last one again and again: few lengths make few statements to prepare.
      const padded = Array.from({ length: places }, (_, index) => ids[index] ?? ids.at(-1) ?? '');
      const rows = await this.reads.run(this.#statement(places), [tenantId, ...padded]);
      const found = new Map(rows.map((row) => this.#entry(row)));
      for (const { id, answer } of asked) answer(found.get(id) ?? null);
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }

  /** The statement for so many ids; the tenant's place is the first. */
  #statement(places: number): string {
    const known = this.#statements.get(places);
    if (known !== undefined) return known;
    const { driver } = this.dataSource;
    const name = (property: string): string => driver.escape(this.#columnOf(property).databaseName);
    const columns = this.#metadata.columns.map(({ databaseName }) => driver.escape(databaseName));
    const besides = Object.entries(this.table.where).map(
      ([property, value]) => `${name(property)} = '${value}'`,
    );
    const table = this.#metadata.tablePath
      .split('.')
      .map((part) => driver.escape(part))
      .join('.');
    const ids = Array.from({ length: places }, () => '?').join(', ');
    const where = [`${name('tenantId')} = ?`, ...besides, `${name(this.table.id)} IN (${ids})`];
    const sql = `SELECT ${columns.join(', ')} FROM ${table} WHERE ${where.join(' AND ')}`;
    this.#statements.set(places, sql);
    return sql;
  }

  #columnOf(property: string): ColumnMetadata {
    const column = this.#metadata.findColumnWithPropertyName(property);
    if (!column) throw new Error(`There is no column for ${property}.`);
    return column;
  }

  /** A row as TypeORM would give it, under its id. */
  #entry(row: Row): [number, E] {
    const { driver } = this.dataSource;
    const entity = new this.table.entity() as Record<string, unknown>;
    for (const column of this.#metadata.columns) {
      entity[column.propertyName] = driver.prepareHydratedValue(row[column.databaseName], column);
    }
    return [entity[this.table.id] as number, entity as E];
  }
}

/** The next power of two. */
function placesFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}
