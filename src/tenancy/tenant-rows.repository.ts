import type { EntityMetadata, FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { isPlain, refuseOddValues, refuseOddWhere } from './host.conditions';
import type { Order } from '../database/scoped-table';
import type { TenantBound } from './tenant-bound';
import type { TenantOwned } from './tenant-owned';

/** Which rows: properties and the values that they have, or one of TypeORM's operators; several objects are an OR. */
export type RowConditions<E> = FindOptionsWhere<E> | FindOptionsWhere<E>[];

/** In which order, and how many at most. */
export interface RowsWanted<E> {
  readonly order?: Order<E>;
  readonly limit?: number;
}

/** How single statements are run. */
export interface RowAccess<E extends TenantOwned> {
  readonly metadata: EntityMetadata;
  read<T>(work: (table: TenantBound<E>) => Promise<T>): Promise<T>;
  write<T>(work: (table: TenantBound<E>) => Promise<T>): Promise<T>;
}

/**
 * The rows of one tenant in a table of the host. The tenant is added to every condition and stamped on every row that
 * is written: whatever is asked for, no row of another tenant is read, changed, or given away.
 */
export class TenantRows<E extends TenantOwned> {
  readonly #access: RowAccess<E>;

  constructor(access: RowAccess<E>) {
    this.#access = access;
  }

  /** The row that matches, or null; any of them when there are several. */
  findOne(where: RowConditions<E>): Promise<E | null> {
    return this.#read(where, (table, own) => table.findOne(own));
  }

  /** The rows that match, in any order unless one is asked for. */
  async find(where: RowConditions<E> = {}, wanted: RowsWanted<E> = {}): Promise<E[]> {
    const { order, limit } = wanted;
    if (limit !== undefined && !(limit > 0)) throw new Error('A limit is a number above 0.');
    const taken = { ...(order && { order }), ...(limit !== undefined && { limit }) };
    return this.#read(where, (table, own) => table.find(own, taken));
  }

  count(where: RowConditions<E> = {}): Promise<number> {
    return this.#read(where, (table, own) => table.count(own));
  }

  exists(where: RowConditions<E>): Promise<boolean> {
    return this.#read(where, (table, own) => table.exists(own));
  }

  /** Adds rows in one statement; gives the number that the database counted for the first of them, null if it counted none. */
  async insert(...rows: Partial<E>[]): Promise<number | null> {
    if (rows.length === 0) throw new Error('There is no row to insert.');
    const { metadata } = this.#access;
    const own = rows.map((row) => copyOf(row));
    for (const row of own) refuseOddValues(metadata, row);
    const first = await this.#access.write((table) => table.insert(...(own as QueryDeepPartialEntity<E>[])));
    const counted = metadata.generatedColumns.find(
      ({ generationStrategy }) => generationStrategy === 'increment',
    );
    const isCounted = counted && own.every((row) => counted.getEntityValue(row) === undefined);
    return isCounted ? first : null;
  }

  /** Changes the rows that match, in one statement; gives their number. */
  async update(where: RowConditions<E>, values: Partial<E>): Promise<number> {
    const own = { where: copyOf(where), values: copyOf(values) };
    refuseOddWhere(own.where);
    refuseOddValues(this.#access.metadata, own.values);
    return this.#access.write((table) => table.update(own.where, own.values as QueryDeepPartialEntity<E>));
  }

  /** Takes the rows that match out of the database; gives their number. */
  async delete(where: RowConditions<E>): Promise<number> {
    const own = copyOf(where);
    refuseOddWhere(own);
    return this.#access.write((table) => table.erase(own));
  }

  async #read<T>(
    where: RowConditions<E>,
    work: (table: TenantBound<E>, own: RowConditions<E>) => Promise<T>,
  ): Promise<T> {
    const own = copyOf(where);
    refuseOddWhere(own);
    return this.#access.read((table) => work(table, own));
  }
}

/** What was checked must be what is used, though it waits for its turn, and may be used again: nobody else has this copy. */
function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyOf(each)])) as T;
}
