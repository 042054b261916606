import {
  FindOperator,
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  type EntityManager,
  type EntityMetadata,
  type FindOptionsWhere,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { columnName, columnOf, tableName, toUtcText } from './columns';
import type { Dialect, Parameter, Rows, StatementResult } from './dialect';
import { dialectOf } from './dialects';
import { dataSourceOf } from './tenantry.data-source';

export type Where<E> = FindOptionsWhere<E> | FindOptionsWhere<E>[];
export type Named = Readonly<Record<string, Parameter | readonly Parameter[]>>;

const COMPARISONS: Readonly<Partial<Record<string, string>>> = {
  equal: '=',
  lessThan: '<',
  lessThanOrEqual: '<=',
  moreThan: '>',
  moreThanOrEqual: '>=',
  like: 'LIKE',
};

/**
 * Writes one statement on one table, its values apart from its text. The text depends on what is asked for, never on the
 * values, so that a database prepares it once. Lists are padded: few lengths make few texts.
 */
export class SqlStatement {
  readonly values: Parameter[] = [];
  readonly dialect: Dialect;

  constructor(
    private readonly metadata: EntityMetadata,
    /** What stands before the names of columns; empty in statements that write. */
    private readonly prefix: 't.' | '' = 't.',
  ) {
    this.dialect = dialectOf(dataSourceOf(metadata));
  }

  get table(): string {
    return tableName(dataSourceOf(this.metadata), this.metadata.tableName);
  }

  /** The name of a property's column, in quotes. */
  name(property: string): string {
    return this.#nameOf(columnOf(this.metadata, property));
  }

  /** A place for a value of this column. */
  place(column: ColumnMetadata, value: unknown): string {
    return this.placeOf(this.parameter(column, value));
  }

  /** A value of this column as it is sent. */
  parameter(column: ColumnMetadata, value: unknown): Parameter {
    if (value === undefined) throw new Error(`${column.propertyPath} has no value.`);
    if (value instanceof Date && this.dialect.timesAsText) return toUtcText(value);
    return dataSourceOf(this.metadata).driver.preparePersistentValue(value, column) as Parameter;
  }

  /** The place of a value; or the SQL that a function gives, whose `:names` are `named`. */
  placeOrExpression(column: ColumnMetadata, value: unknown, named: Named): string {
    return typeof value === 'function'
      ? this.expression((value as () => string)(), named)
      : this.place(column, value);
  }

  placeOf(value: Parameter): string {
    return this.dialect.place(this.values.push(value));
  }

  /**
   * A piece of SQL with places for its `:name` and `:...list`; `:table` is the statement's own, `:tenantry_…` another one, `:instr` a
   * function. `:ix_…` right after the name of a table forces that index.
   */
  expression(sql: string, named: Named = {}): string {
    return sql.replace(/:(?:\.\.\.)?([a-z]\w*)/gi, (_, name: string) => {
      if (name === 'table') return this.table;
      if (name.startsWith('tenantry_')) return tableName(dataSourceOf(this.metadata), name);
      if (name === 'instr') return this.dialect.instr;
      if (name.startsWith('ix_')) return this.dialect.forceIndex(name, this.metadata);
      const value = named[name];
      if (value === undefined) throw new Error(`:${name} has no value.`);
      return this.#places([value].flat(), (each) => this.placeOf(each));
    });
  }

  /** All of these conditions; a list is an OR, an empty object is no condition. */
  where<E>(...all: readonly Where<E>[]): string {
    const conditions = all.map((where) => this.#condition(where)).filter((sql) => sql !== '');
    return conditions.length === 0 ? '1=1' : conditions.join(' AND ');
  }

  /** That a row comes after one with these values, in an order that ascends, or descends, in all of its properties. */
  after(order: Readonly<Record<string, unknown>>, key: readonly (string | number | Date)[]): string {
    const properties = Object.keys(order).slice(0, key.length);
    const names = properties.map((property) => this.name(property));
    const place = (index: number): string =>
      this.place(columnOf(this.metadata, properties[index] ?? ''), key[index]);
    return this.dialect.after(names, place, Object.values(order).includes('DESC') ? '<' : '>');
  }

  /** Sends it on the connection of this manager: a text with this statement's places, and its values. */
  run(manager: EntityManager, sql: string): Promise<StatementResult> {
    return runPrepared(manager, sql, this.values);
  }

  #condition<E>(where: Where<E>): string {
    if (Array.isArray(where)) {
      const alternatives = padded(where).map((each) => this.#condition(each) || '1=1');
      return alternatives.length > 1 ? `(${alternatives.join(' OR ')})` : (alternatives[0] ?? '1=0');
    }
    return Object.entries(where)
      .map(([property, value]) => this.#compare(columnOf(this.metadata, property), value))
      .join(' AND ');
  }

  #compare(column: ColumnMetadata, value: unknown): string {
    const name = this.#nameOf(column);
    if (value === null) return `${name} IS NULL`;
    if (!(value instanceof FindOperator)) return `${name} = ${this.place(column, value)}`;
    const operand: unknown = value.value;
    switch (value.type) {
      case 'isNull':
        return `${name} IS NULL`;
      case 'not':
        return `NOT (${this.#compare(column, value.child ?? operand)})`;
      case 'and':
      case 'or':
        return `(${(operand as unknown[]).map((each) => this.#compare(column, each)).join(` ${value.type.toUpperCase()} `)})`;
      case 'in': {
        const places = this.#places(operand as readonly unknown[], (each) => this.place(column, each));
        return places === '' ? '1=0' : `${name} IN (${places})`;
      }
      case 'raw':
        return this.expression(value.getSql?.(name) ?? '', value.objectLiteralParameters ?? {});
      default: {
        const sign = COMPARISONS[value.type];
        if (!sign) throw new Error(`There is no SQL for the operator ${value.type}.`);
        return `${name} ${sign} ${this.place(column, operand)}`;
      }
    }
  }

  #places<T>(values: readonly T[], place: (value: T) => string): string {
    return padded(values).map(place).join(', ');
  }

  #nameOf(column: ColumnMetadata): string {
    return this.prefix + columnName(column, dataSourceOf(this.metadata));
  }
}

/** The last of a list again, up to a power of two. */
export function padded<T>(list: readonly T[]): readonly T[] {
  const length = 2 ** Math.ceil(Math.log2(list.length));
  return list.concat(list.slice(-1).flatMap((last) => Array<T>(length - list.length).fill(last)));
}

/** Runs a statement whose text is always the same on the connection of this manager: the database prepares it once. */
export async function runPrepared(
  manager: EntityManager,
  sql: string,
  parameters: Parameter[],
): Promise<StatementResult> {
  const { queryRunner: runner } = manager;
  const dataSource = dataSourceOf(manager);
  if (!runner) throw new Error('A prepared statement needs a connection of its own.');
  // As TypeORM does: the connection may be another's by now.
  if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
  // A subscriber, or the log of slow statements, wants to know of every statement.
  const isWatched = dataSource.subscribers.length > 0 || Boolean(dataSource.options.maxQueryExecutionTime);
  const execute = isWatched ? null : await dialectOf(dataSource).preparing(runner, sql);
  if (!execute) {
    const result = await runner.query(sql, parameters, true);
    // MySQL gives an object for an INSERT, SQLite the id itself.
    const raw = result.raw as { readonly insertId?: number | string } | number | null;
    const insertId = Number((typeof raw === 'object' ? raw?.insertId : raw) ?? 0);
    return { rows: result.records as Rows, affected: result.affected ?? 0, insertId };
  }
  dataSource.logger.logQuery(sql, parameters);
  try {
    return await execute(sql, parameters);
  } catch (error) {
    dataSource.logger.logQueryError(error as Error, sql, parameters);
    throw new QueryFailedError(sql, parameters, error as Error);
  }
}
