import { FindOperator, type EntityMetadata, type FindOptionsWhere, type SelectQueryBuilder } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { countedColumn, type HostTable, type RowsWanted } from './host-table';
import type { TenantOwned } from '../tenancy/tenant-bound';
import { tenantColumn } from './tenant-bound.query-builder';

/** Marks TypeORM's own objects, whichever copy of TypeORM has made them. */
const TYPEORM = '@instanceof';

const OWN_TABLES = 'tenantry_';

/** Which rows: properties and the values that they have, or one of TypeORM's operators; several objects are an OR. */
export type RowConditions<E> = FindOptionsWhere<E> | FindOptionsWhere<E>[];

interface RowAccess<E extends TenantOwned> {
  readonly metadata: EntityMetadata;
  readonly table: HostTable<E>;
  read<T>(work: (table: HostTable<E>) => Promise<T>): Promise<T>;
  insert<T>(work: (table: HostTable<E>) => Promise<T>): Promise<T>;
  write<T>(work: (table: HostTable<E>) => Promise<T>): Promise<T>;
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

  /**
   * TypeORM's builder for what the other reads cannot say: joins, sums, pages. Each entity with a `tenantId` that it selects
   * from or joins gives rows of this tenant alone, whatever its conditions are. It only reads, and each time from the database.
   */
  queryBuilder(alias: string): SelectQueryBuilder<E> {
    return this.#access.table.queryBuilder(alias);
  }

  /** Adds rows in one statement; gives the number that the database counted for the first of them, null if it counted none. */
  async insert(...rows: Partial<E>[]): Promise<number | null> {
    if (rows.length === 0) throw new Error('There is no row to insert.');
    const own = rows.map((row) => this.#checkedValues(row));
    this.#refuseOwnTable();
    const [first] = await this.#access.insert((table) => table.insert(...own));
    const counted = countedColumn(this.#access.metadata);
    const isCounted = counted && own.every((row) => counted.getEntityValue(row) === undefined);
    return first && isCounted ? Number(counted.getEntityValue(first)) : null;
  }

  /** Changes the rows that match, in one statement; gives their number. */
  async update(where: RowConditions<E>, values: Partial<E>): Promise<number> {
    const own = this.#checkedTarget(where);
    const ownValues = this.#checkedValues(values);
    return this.#access.write((table) => table.update(own, ownValues));
  }

  /** Deletes the rows that match, in one statement; gives their number. Softly, if the entity has a `@DeleteDateColumn`. */
  async delete(where: RowConditions<E>): Promise<number> {
    const own = this.#checkedTarget(where);
    return this.#access.write((table) => table.delete(own));
  }

  async #read<T>(
    where: RowConditions<E>,
    work: (table: HostTable<E>, own: RowConditions<E>) => Promise<T>,
  ): Promise<T> {
    const own = checkedWhere(where);
    return this.#access.read((table) => work(table, own));
  }

  /** Departments and accounts may be read next to the host's rows; their rules are in their services. */
  #refuseOwnTable(): void {
    const { name, tableName } = this.#access.metadata;
    if (tableName.startsWith(OWN_TABLES))
      throw new Error(`${name} is written by the services of Tenantry alone.`);
  }

  /** Of a relation, a statement that writes sees the key alone: TypeORM would leave out the rest of the condition. */
  #checkedTarget(where: RowConditions<E>): RowConditions<E> {
    this.#refuseOwnTable();
    const own = checkedWhere(where);
    for (const { propertyPath, joinColumns } of this.#access.metadata.relations) {
      const key = new Set(joinColumns.map(({ referencedColumn }) => referencedColumn?.propertyPath));
      for (const each of [own].flat()) {
        const value = (each as Readonly<Record<string, unknown>>)[propertyPath];
        if (!isPlain(value)) continue;
        const names = Object.keys(value);
        if (names.length !== key.size || !names.every((name) => key.has(name)))
          throw new Error(
            `A condition on ${propertyPath} finds rows, but does not write them: name their keys.`,
          );
      }
    }
    return own;
  }

  /** Refuses values that would write another tenant in spite of the stamp: a relation on its column, or SQL. */
  #checkedValues(values: Partial<E>): QueryDeepPartialEntity<E> {
    const { metadata } = this.#access;
    const own = copyOf({ ...values });
    const relation = tenantColumn(metadata)?.relationMetadata?.propertyName;
    if (relation !== undefined && relation in own) {
      throw new Error(`${relation} cannot be written: the tenant of a row follows from the context.`);
    }
    for (const column of metadata.columns) {
      if (typeof column.getEntityValue(own) === 'function') {
        throw new Error(`${column.propertyPath} must be a value, not SQL.`);
      }
    }
    return own as QueryDeepPartialEntity<E>;
  }
}

/** Refuses an entity whose rows cannot be told apart by tenant. */
export function refuseUnowned(metadata: EntityMetadata): void {
  const column = tenantColumn(metadata);
  if (!column) throw new Error(`${metadata.name} has no column for tenantId, so no tenant can own its rows.`);
  if (metadata.columns.some((each) => each !== column && each.databaseName === column.databaseName)) {
    throw new Error(`${metadata.name} has more than one property for the column of tenantId.`);
  }
}

/**
 * A copy of conditions, without those that could reach out of the tenant or mean more rows than they say: SQL in any form,
 * an empty list, a value that is not there.
 */
function checkedWhere<W>(where: W): W {
  const own = copyOf(where);
  refuseOddWhere(own);
  return own;
}

function refuseOddWhere(where: unknown): void {
  const alternatives: readonly unknown[] = Array.isArray(where) ? where : [where];
  if (alternatives.length === 0) throw new Error('A list of conditions needs at least one.');
  for (const each of alternatives) {
    if (!isPlain(each)) throw new Error('A condition is a plain object, or a list of such objects.');
    for (const [property, value] of Object.entries(each)) {
      if (value === undefined || (isPlain(value) && Object.keys(value).length === 0))
        throw new Error(`The condition on ${property} has no value.`);
      // TypeORM 0.3 leaves such a condition out.
      if (value === null) throw new Error(`The condition on ${property} is null; IsNull() is a condition.`);
      if (isPlain(value)) refuseOddWhere(value);
      else if (isOfTypeorm(value)) refuseOddOperator(property, value);
    }
  }
}

function refuseOddOperator(property: string, operator: unknown): void {
  if (!(operator instanceof FindOperator) || operator.type === 'raw') {
    throw new Error(`The condition on ${property} is not one of TypeORM's operators without SQL.`);
  }
  const inner: unknown = operator.child ?? operator.value;
  for (const each of Array.isArray(inner) ? (inner as unknown[]) : [inner]) {
    if (isOfTypeorm(each)) refuseOddOperator(property, each);
  }
}

/** What was checked must be what is used, though it waits for its turn: no other code has this copy. */
function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyOf(each)])) as T;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || isOfTypeorm(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isOfTypeorm(value: unknown): boolean {
  return typeof value === 'object' && value !== null && TYPEORM in value;
}
