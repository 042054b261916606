import { MoreThan, type FindOptionsWhere, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';

/** A place in an order of rows: the values of the order's columns. The last of them alone names the row. */
export type Key = readonly (string | number)[];

export interface KeyRange<E> {
  readonly where: FindOptionsWhere<E> | FindOptionsWhere<E>[];
  readonly order: readonly (keyof E & string)[];
  /** With fewer values than the order has columns: after all rows that equal it in those. */
  readonly after: Key | null;
  readonly limit: number;
  /** The index to read from, where MySQL would choose another. */
  readonly index?: string;
}

export function keysOf<C extends string>(
  rows: readonly Record<C, string | number>[],
  order: readonly C[],
): Key[] {
  return rows.map((row) => order.map((column) => row[column]));
}

export type Arrange<E extends ObjectLiteral> = (select: SelectQueryBuilder<E>) => SelectQueryBuilder<E>;

/**
 * Reads what comes after a place in stretches that are each one range of an index: first the rows that equal it in all
 * columns of the order but the last, then in all but the last two, and so on. So no optimiser has to understand an OR.
 */
export async function inStretches<E extends ObjectLiteral, T>(
  { where, order, after, limit, index }: KeyRange<E>,
  read: (arrange: Arrange<E>) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (let last = after ? after.length - 1 : 0; last >= 0 && found.length < limit; last -= 1) {
    const arrange: Arrange<E> = (select) => {
      if (index !== undefined) select.useIndex(index);
      for (const column of after ? order.slice(last) : order) select.addOrderBy(`t.${column}`);
      if (after) select.andWhere(rangeAfter<E>(order, after, last));
      return select.andWhere(where).limit(limit - found.length);
    };
    found.push(...(await read(arrange)));
  }
  return found;
}

/** The rows that equal `after` in the columns before the `last`, and come after it there. */
function rangeAfter<E>(order: readonly string[], after: Key, last: number): FindOptionsWhere<E> {
  const same = order.slice(0, last).map((column, index) => [column, after[index]] as const);
  return Object.fromEntries([...same, [order[last], MoreThan(after[last])]]) as FindOptionsWhere<E>;
}

export function named<E extends ObjectLiteral>(
  select: SelectQueryBuilder<E>,
  columns: readonly string[],
): SelectQueryBuilder<E> {
  select.select([]);
  for (const column of columns) select.addSelect(`t.${column}`, column);
  return select;
}

/**
 * With `USE INDEX`, which is all that TypeORM can say, MariaDB may read an index from the tenant's first entry up to the
 * place where it should begin: ten times the cost in the middle of half a million.
 */
export function forced(sql: string): string {
  return sql.replaceAll(' USE INDEX (', ' FORCE INDEX (');
}
