import {
  MoreThanOrEqual,
  type DataSource,
  type EntityManager,
  type EntityMetadata,
  type EntityTarget,
  type ObjectLiteral,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { columnName, columnOf, comesAsItIs, fromUtcText, instant, valueIn } from './columns';
import { firstIdOf, type Dialect, type StatementResult } from './dialect';
import { dialectOf } from './dialects';
import { SqlStatement, type Named, type Where } from './sql-statement';
import { dataSourceOf } from './tenantry.data-source';

export type Order<E> = Readonly<Partial<Record<keyof E & string, 'ASC' | 'DESC'>>>;

/** A place in an order of rows: the values of the order's columns. The last of them alone names the row. */
export type Key = readonly (string | number)[];

/** Which of the rows that match, and in which order; all of them in any order by default. */
export interface FindOptions<E> {
  readonly order?: Order<E>;
  readonly limit?: number;
  /** Only rows after this one in the order. With fewer values than the order has columns: after all that equal it in those. */
  readonly after?: readonly (string | number | Date)[] | null;
  /** The index to read from, where a database would choose another; `PRIMARY` is the key. */
  readonly index?: string;
}

type Values<E> = QueryDeepPartialEntity<E>;

/** Gives each statement a connection: one of its own, or that of an open unit of work. */
export interface Connections {
  readonly dataSource: DataSource;
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
}

export interface Scope<E> {
  readonly where?: Where<E>;
  readonly stamp?: Values<E>;
}

/**
 * A table of which only a part can be reached. There is no `save` (it looks up by key alone and could take over
 * a row outside the scope) and no query builder to hand out. For the library's own tables: their statements are written
 * here and prepared, because TypeORM's query builder takes longer than the database.
 */
export class ScopedTable<E extends ObjectLiteral> {
  readonly #source: EntityManager | Connections;
  readonly #metadata: EntityMetadata;
  readonly #scope: Scope<E>;

  constructor(source: EntityManager | Connections, entity: EntityTarget<E>, scope: Scope<E> = {}) {
    this.#source = source;
    this.#metadata = dataSourceOf(source).getMetadata(entity);
    this.#scope = scope;
  }

  /** For conditions on many pairs, which the databases want in different forms. */
  get findsByRowValues(): boolean {
    return this.#dialect.findsByRowValues;
  }

  columnName(property: keyof E & string): string {
    return this.#nameOf(columnOf(this.#metadata, property));
  }

  async findOne(where: Where<E>): Promise<E | null> {
    const [first] = await this.find(where, { limit: 1 });
    return first ?? null;
  }

  async find(where: Where<E>, options: FindOptions<E> = {}): Promise<E[]> {
    const shape = RowShape.of(this.#metadata, null);
    const rows = await this.#select(shape.sql, where, options);
    return rows.map((row) => shape.toEntity(row) as E);
  }

  /** Rows that match, each with one more value that is said in SQL; rows are called `t` there. */
  async findWith<N extends string>(
    where: Where<E>,
    name: N,
    value: string,
    options: FindOptions<E> = {},
  ): Promise<(E & Record<N, unknown>)[]> {
    const shape = RowShape.of(this.#metadata, null);
    const what = (statement: SqlStatement) => `${shape.sql}, ${statement.expression(value)} AS "${name}"`;
    const rows = await this.#select(what, where, options);
    return rows.map(
      (row) => Object.assign(shape.toEntity(row), { [name]: row[name] }) as E & Record<N, unknown>,
    );
  }

  /** Some columns of the rows that match, as plain objects. The list of columns must be a constant. */
  async pick<C extends keyof E & string>(
    where: Where<E>,
    columns: readonly C[],
    options: FindOptions<E> = {},
  ): Promise<Pick<E, C>[]> {
    return this.pickWith(where, columns, '', options);
  }

  /** Some columns, and more that is said in SQL; rows are called `t` there, and its `:names` are `named`. */
  async pickWith<C extends keyof E & string, M = object>(
    where: Where<E>,
    columns: readonly C[],
    more: string,
    { named = {}, ...options }: FindOptions<E> & { readonly named?: Named } = {},
  ): Promise<(Pick<E, C> & M)[]> {
    const shape = RowShape.of(this.#metadata, columns);
    const what = (statement: SqlStatement) => `${shape.sql}, ${statement.expression(more, named)}`;
    const rows = await this.#select(more ? what : shape.sql, where, options);
    for (const row of rows) shape.toFields(row);
    return rows as (Pick<E, C> & M)[];
  }

  /** The values of a text column that more than one row has. */
  async repeatedTexts(column: keyof E & string, where: Where<E>): Promise<string[]> {
    const name = new SqlStatement(this.#metadata).name(column);
    const rows = await this.#select(`${name} AS value`, where, {}, ` GROUP BY ${name} HAVING COUNT(*) > 1`);
    return rows.map(({ value }) => String(value));
  }

  async count(where: Where<E>): Promise<number> {
    const [row] = await this.#select('COUNT(*) AS count', where);
    return Number(row?.count);
  }

  async exists(where: Where<E>): Promise<boolean> {
    return (await this.#select('1 AS one', where, { limit: 1 })).length > 0;
  }

  /** Whether more rows than that match; it reads no more than it must. */
  async hasMoreThan(count: number, where: Where<E>): Promise<boolean> {
    return (await this.#select('1 AS one', where, {}, ` LIMIT 1 OFFSET ${count}`)).length > 0;
  }

  async distinct(column: keyof E & string, where: Where<E>, options: FindOptions<E> = {}): Promise<string[]> {
    const name = new SqlStatement(this.#metadata).name(column);
    const rows = await this.#select(`DISTINCT ${name} AS value`, where, options);
    return rows.map(({ value }) => String(value));
  }

  /** In ascending order: refusals name them, and databases find them in any. */
  async distinctIds(
    column: keyof E & string,
    where: Where<E>,
    options: FindOptions<E> = {},
  ): Promise<number[]> {
    return (await this.distinct(column, where, options)).map(Number).sort((a, b) => a - b);
  }

  /** The greatest value that an expression on a column has in the rows that match. */
  async maximum(
    column: keyof E & string,
    of: (column: string) => string,
    where: Where<E>,
  ): Promise<number | null> {
    const name = new SqlStatement(this.#metadata).name(column);
    const [row] = await this.#select(`MAX(${of(name)}) AS max`, where);
    return row?.max == null ? null : Number(row.max);
  }

  async sum(column: keyof E & string, where: Where<E>): Promise<number> {
    const name = new SqlStatement(this.#metadata).name(column);
    const [row] = await this.#select(`SUM(${name}) AS sum`, where);
    return Number(row?.sum ?? 0);
  }

  /** Adds rows, all with the same fields, in one statement; gives the id that the database made for the first of them. */
  async insert(...rows: Values<E>[]): Promise<number> {
    return firstIdOf(this.#dialect, await this.#insert(rows), rows.length);
  }

  /** Adds rows as `insert` does, and gives all of their ids. No one else may add such rows meanwhile. */
  async insertMany(rows: readonly Values<E>[], key: keyof E & string): Promise<number[]> {
    const inserted = await this.#insert(rows);
    const known = this.#dialect.newIds(inserted, rows.length);
    if (known) return known;
    const since = { [key]: MoreThanOrEqual(inserted.insertId) } as Where<E>;
    const options = { order: { [key]: 'ASC' } as Order<E>, limit: rows.length };
    const made = await this.#select(`${new SqlStatement(this.#metadata).name(key)} AS id`, since, options);
    return made.map(({ id }) => Number(id));
  }

  /** Adds rows, all with the same fields, in one statement. Functions give SQL, whose `:names` are `named`. */
  async insertAll(rows: readonly Values<E>[], named: Named): Promise<void> {
    await this.#insert(rows, named);
  }

  /** Before rows are added that bring their ids, up to this one: the database will make ids beyond it. */
  async passIds(last: number): Promise<void> {
    const [column] = this.#metadata.generatedColumns;
    const table = new SqlStatement(this.#metadata, '').table;
    for (const sql of column ? this.#dialect.passIds(table, column.databaseName) : []) {
      const statement = new SqlStatement(this.#metadata, '');
      statement.placeOf(last);
      await this.#run(statement, sql);
    }
  }

  async #insert(rows: readonly Values<E>[], named: Named = {}): Promise<StatementResult> {
    const stamped = rows.map((row) => Object.assign({}, row, this.#scope.stamp) as ObjectLiteral);
    const columns = this.#metadata.columns.filter(
      (column) => valueIn(stamped[0] ?? {}, column) !== undefined,
    );
    const statement = new SqlStatement(this.#metadata, '');
    const names = columns.map((column) => this.#nameOf(column));
    const lines = stamped.map((row) => {
      const places = columns.map((column) =>
        statement.placeOrExpression(column, valueIn(row, column), named),
      );
      return `(${places.join(', ')})`;
    });
    const [id] = this.#metadata.generatedColumns;
    const end = id ? this.#dialect.returning(this.#nameOf(id)) : '';
    const sql = `INSERT INTO ${statement.table} (${names.join(', ')}) VALUES ${lines.join(', ')}${end}`;
    return this.#run(statement, sql);
  }

  /** Changes the rows that match, in one statement; gives their number. Functions give SQL, whose `:names` are `named`. */
  async update(where: Where<E>, values: Values<E>, named: Named = {}): Promise<number> {
    // The condition binds the row to its scope already. Set again, its column would make PostgreSQL renew all of its indexes.
    const changes = Object.assign({}, values) as ObjectLiteral;
    for (const [name, value] of Object.entries(this.#scope.stamp ?? {}))
      if (name in changes) changes[name] = value;
    const statement = new SqlStatement(this.#metadata, '');
    const assignments = this.#metadata.columns.flatMap((column) => {
      const value = valueIn(changes, column);
      if (value === undefined) return [];
      return [`${this.#nameOf(column)} = ${statement.placeOrExpression(column, value, named)}`];
    });
    const condition = statement.where(where, this.#scope.where ?? {});
    const sql = `UPDATE ${statement.table} SET ${assignments.join(', ')} WHERE ${condition}`;
    return (await this.#run(statement, sql)).affected;
  }

  async analyze(): Promise<void> {
    const sql = this.#dialect.analyze(new SqlStatement(this.#metadata).table);
    if (sql !== null) await this.#onConnection((manager) => manager.query(sql));
  }

  async erase(where: Where<E>): Promise<number> {
    const statement = new SqlStatement(this.#metadata, '');
    const condition = statement.where(where, this.#scope.where ?? {});
    return (await this.#run(statement, `DELETE FROM ${statement.table} WHERE ${condition}`)).affected;
  }

  async #select(
    what: string | ((statement: SqlStatement) => string),
    where: Where<E>,
    { order, limit, after, index }: FindOptions<E> = {},
    end = '',
  ): Promise<Record<string, unknown>[]> {
    const statement = new SqlStatement(this.#metadata);
    const columns = typeof what === 'string' ? what : what(statement);
    const hint = index === undefined ? '' : statement.dialect.forceIndex(index, this.#metadata);
    const condition = statement.where(where, this.#scope.where ?? {});
    const orders = Object.entries<unknown>(order ?? {});
    const range = after ? ` AND ${statement.after(order ?? {}, after)}` : '';
    const names = orders.map(([property, direction]) => `${statement.name(property)} ${String(direction)}`);
    const orderBy = names.length > 0 ? ` ORDER BY ${names.join(', ')}` : '';
    const most = limit === undefined ? '' : ` LIMIT ${statement.placeOf(limit)}`;
    const sql = `SELECT ${columns} FROM ${statement.table} t${hint} WHERE ${condition}${range}${orderBy}${end}${most}`;
    return (await this.#run(statement, sql)).rows as Record<string, unknown>[];
  }

  #run(statement: SqlStatement, sql: string): Promise<StatementResult> {
    return this.#onConnection((manager) => statement.run(manager, sql));
  }

  #onConnection<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return 'run' in this.#source ? this.#source.run(work) : work(this.#source);
  }

  get #dialect(): Dialect {
    return dialectOf(dataSourceOf(this.#source));
  }

  #nameOf(column: ColumnMetadata): string {
    return columnName(column, dataSourceOf(this.#source));
  }
}

type Row = Record<string, unknown>;

const SHAPES = new WeakMap<EntityMetadata, Map<readonly string[] | null, RowShape>>();

/** Some columns of a table, or all: how a statement asks for them, and how what it gives becomes fields. */
class RowShape {
  /** For the list after SELECT. */
  readonly sql: string;
  readonly #metadata: EntityMetadata;
  readonly #columns: readonly ColumnMetadata[];
  readonly #converted: readonly ColumnMetadata[];
  readonly #times: readonly ColumnMetadata[];

  private constructor(metadata: EntityMetadata, columns: readonly ColumnMetadata[]) {
    const dataSource = dataSourceOf(metadata);
    const { timesAsText } = dialectOf(dataSource);
    const isText = ({ type }: ColumnMetadata) => timesAsText && type === instant.type;
    this.sql = columns
      .map((column) => {
        const name = `t.${columnName(column, dataSource)}`;
        return `${isText(column) ? `CAST(${name} AS CHAR)` : name} AS ${dataSource.driver.escape(column.propertyPath)}`;
      })
      .join(', ');
    this.#metadata = metadata;
    this.#columns = columns;
    this.#converted = columns.filter((column) => !comesAsItIs(column) && !isText(column));
    this.#times = columns.filter(isText);
  }

  /** The list of properties must be a constant: each one is kept. */
  static of(metadata: EntityMetadata, properties: readonly string[] | null): RowShape {
    const shapes = SHAPES.get(metadata) ?? new Map<readonly string[] | null, RowShape>();
    SHAPES.set(metadata, shapes);
    const known = shapes.get(properties);
    if (known) return known;
    const columns = properties?.map((property) => columnOf(metadata, property)) ?? metadata.columns;
    const shape = new RowShape(metadata, columns);
    shapes.set(properties, shape);
    return shape;
  }

  /** The row itself, with its values as an entity has them: many of them cost a fraction of what entities do. */
  toFields(row: Row): Row {
    const { driver } = dataSourceOf(this.#metadata);
    for (const column of this.#converted) {
      const name = column.propertyPath;
      row[name] = driver.prepareHydratedValue(row[name], column) as unknown;
    }
    for (const { propertyPath } of this.#times) {
      const text = row[propertyPath] as string | null;
      row[propertyPath] = text === null ? null : fromUtcText(text);
    }
    return row;
  }

  toEntity(row: Row): ObjectLiteral {
    const fields = this.toFields(row);
    const entity = this.#metadata.create() as ObjectLiteral;
    for (const column of this.#columns) {
      const value = fields[column.propertyPath];
      if (column.embeddedMetadata) column.setEntityValue(entity, value);
      else entity[column.propertyName] = value;
    }
    return entity;
  }
}
