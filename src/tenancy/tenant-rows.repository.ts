import type { EntityMetadata, FindOptionsWhere } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { refuseOddValues, refuseOddWhere } from './host.conditions';
import type { Order } from './scoped-table';
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
    return this.#read(where, (table) => table.findOne(where));
  }

  /** The rows that match, in any order unless one is asked for. */
  find(where: RowConditions<E> = {}, wanted: RowsWanted<E> = {}): Promise<E[]> {
    const { order, limit } = wanted;
    const taken = { ...(order && { order }), ...(limit !== undefined && { limit }) };
    return this.#read(where, (table) => table.find(where, taken));
  }

  count(where: RowConditions<E> = {}): Promise<number> {
    return this.#read(where, (table) => table.count(where));
  }

  exists(where: RowConditions<E>): Promise<boolean> {
    return this.#read(where, (table) => table.exists(where));
  }

  /** Adds rows in one statement; gives the id that the database made for the first of them, if it makes ids. */
  async insert(...rows: Partial<E>[]): Promise<number> {
    if (rows.length === 0) throw new Error('There is no row to insert.');
    for (const row of rows) refuseOddValues(this.#access.metadata, row);
    return this.#access.write((table) => table.insert(...(rows as QueryDeepPartialEntity<E>[])));
  }

  /** Changes the rows that match, in one statement; gives their number. */
  async update(where: RowConditions<E>, values: Partial<E>): Promise<number> {
    refuseOddWhere(where);
    refuseOddValues(this.#access.metadata, values);
    return this.#access.write((table) => table.update(where, values as QueryDeepPartialEntity<E>));
  }

  /** Takes the rows that match out of the database; gives their number. */
  async delete(where: RowConditions<E>): Promise<number> {
    refuseOddWhere(where);
    return this.#access.write((table) => table.erase(where));
  }

  async #read<T>(where: RowConditions<E>, work: (table: TenantBound<E>) => Promise<T>): Promise<T> {
    refuseOddWhere(where);
    return this.#access.read(work);
  }
}
