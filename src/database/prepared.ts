import {
  QueryFailedError,
  type EntityManager,
  type EntityMetadata,
  type EntityTarget,
  type ObjectLiteral,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { columnOf } from './columns';
import type { SqliteDriver } from './sqlite/sqlite.driver';

/** An object would become a piece of SQL. */
export type Parameter = string | number | Date | null;
type Rows = readonly Readonly<Record<string, unknown>>[];

export interface Outcome {
  readonly rows: Rows;
  readonly affected: number;
  readonly insertId: number;
}

type Raw = Rows | { readonly affectedRows: number; readonly insertId: number | string };
type Callback = (error: (Error & { readonly errno?: number }) | null, raw: Raw) => void;

interface MysqlConnection {
  execute(sql: string, parameters: readonly Parameter[], done: Callback): void;
  query(sql: string, parameters: readonly Parameter[], done: Callback): void;
}

/** Too many prepared statements on the server, another server behind the proxy, an altered table: its text can still be sent. */
const UNPREPARED: ReadonlySet<number | undefined> = new Set([1461, 1243, 1615]);

/**
 * Runs a statement whose text is always the same on the connection of this manager. MySQL prepares it once per connection;
 * TypeORM would send its text each time and cost four times as much. SQLite's connection prepares everything.
 */
export async function runPrepared(
  { queryRunner: runner, dataSource }: EntityManager,
  sql: string,
  parameters: Parameter[],
): Promise<Outcome> {
  if (!runner) throw new Error('A prepared statement needs a connection of its own.');
  const connection = (await runner.connect()) as Partial<MysqlConnection>;
  const { read } = dataSource.driver as Partial<SqliteDriver>;
  const isPlainRead = read && !runner.isTransactionActive && sql.startsWith('SELECT');
  // A subscriber, or the log of slow statements, wants to know of every statement.
  const isWatched = dataSource.subscribers.length > 0 || Boolean(dataSource.options.maxQueryExecutionTime);
  if (isWatched || !(connection.execute || isPlainRead)) {
    const result = await runner.query(sql, parameters, true);
    // MySQL gives an object for an INSERT, SQLite the id itself.
    const raw = result.raw as { readonly insertId?: number | string } | number | null;
    const insertId = Number((typeof raw === 'object' ? raw?.insertId : raw) ?? 0);
    return { rows: result.records as Rows, affected: result.affected ?? 0, insertId };
  }
  dataSource.logger.logQuery(sql, parameters);
  try {
    const raw = isPlainRead
      ? read.call(dataSource.driver as SqliteDriver, sql, parameters)
      : await execute(connection as MysqlConnection, sql, parameters);
    if (!('affectedRows' in raw)) return { rows: raw, affected: 0, insertId: 0 };
    return { rows: [], affected: raw.affectedRows, insertId: Number(raw.insertId) };
  } catch (error) {
    dataSource.logger.logQueryError(error as Error, sql, parameters);
    throw new QueryFailedError(sql, parameters, error as Error);
  }
}

function execute(connection: MysqlConnection, sql: string, parameters: readonly Parameter[]): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const settle: Callback = (error, raw) => {
      if (error) reject(error);
      else resolve(raw);
    };
    connection.execute(sql, parameters, (error, raw) => {
      if (error && UNPREPARED.has(error.errno)) connection.query(sql, parameters, settle);
      else settle(error, raw);
    });
  });
}

/**
 * The functions below read and write rows of the library's own tables without the query builder, which makes the same
 * SQL anew for every row. Entities of hosts may have more to them (relations, hooks); those are for TypeORM.
 */
export async function findRow<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  where: QueryDeepPartialEntity<E>,
): Promise<E | null> {
  const metadata = manager.dataSource.getMetadata(entity);
  const { sql, columns } = statementOf(metadata, 'find', Object.keys(where), (names) => {
    return `${selectFrom(metadata)} WHERE ${names.map((name) => `${name} = ?`).join(' AND ')} LIMIT 1`;
  });
  const { rows } = await runPrepared(manager, sql, parametersOf(columns, where));
  return rows[0] ? (hydrate(metadata, rows[0]) as E) : null;
}

/** The rows with one of these ids that have these values besides. */
export async function findRows<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  where: QueryDeepPartialEntity<E>,
  { property, ids }: { readonly property: keyof E & string; readonly ids: readonly number[] },
): Promise<E[]> {
  const metadata = manager.dataSource.getMetadata(entity);
  // The last id is repeated: few lengths make few statements to prepare.
  const count = 2 ** Math.ceil(Math.log2(ids.length));
  const padded = Array.from({ length: count }, (_, index) => String(ids[index] ?? ids.at(-1)));
  const properties = [property, ...Object.keys(where)];
  const { sql, columns } = statementOf(metadata, `find ${count}`, properties, ([id, ...names]) => {
    const others = names.map((name) => ` AND ${name} = ?`).join('');
    return `${selectFrom(metadata)} WHERE ${id} IN (${padded.map(() => '?').join(', ')})${others}`;
  });
  const { rows } = await runPrepared(manager, sql, [...padded, ...parametersOf(columns.slice(1), where)]);
  return rows.map((row) => hydrate(metadata, row) as E);
}

export async function insertRow<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  row: QueryDeepPartialEntity<E>,
): Promise<number> {
  const metadata = manager.dataSource.getMetadata(entity);
  const { sql, columns } = statementOf(metadata, 'insert', Object.keys(row), (names) => {
    const places = names.map(() => '?').join(', ');
    return `INSERT INTO ${metadata.dataSource.driver.escape(metadata.tableName)} (${names.join(', ')}) VALUES (${places})`;
  });
  return (await runPrepared(manager, sql, parametersOf(columns, row))).insertId;
}

interface Statement {
  readonly sql: string;
  readonly columns: readonly ColumnMetadata[];
}

const STATEMENTS = new WeakMap<EntityMetadata, Map<string, Statement>>();

function statementOf(
  metadata: EntityMetadata,
  kind: string,
  properties: readonly string[],
  compose: (names: readonly string[]) => string,
): Statement {
  const statements = STATEMENTS.get(metadata) ?? new Map<string, Statement>();
  STATEMENTS.set(metadata, statements);
  const key = `${kind} ${properties.join()}`;
  const known = statements.get(key);
  if (known) return known;
  const columns = properties.map((property) => columnOf(metadata, property));
  const statement = { sql: compose(columns.map(nameOf)), columns };
  statements.set(key, statement);
  return statement;
}

function parametersOf(
  columns: readonly ColumnMetadata[],
  values: Readonly<Record<string, unknown>>,
): Parameter[] {
  return columns.map((column) => {
    const value = values[column.propertyName];
    if (value === undefined) throw new Error(`${column.propertyName} has no value.`);
    return column.entityMetadata.dataSource.driver.preparePersistentValue(value, column) as Parameter;
  });
}

function selectFrom({ columns, tableName, dataSource }: EntityMetadata): string {
  return `SELECT ${columns.map(nameOf).join(', ')} FROM ${dataSource.driver.escape(tableName)}`;
}

function nameOf({ databaseName, entityMetadata }: ColumnMetadata): string {
  return entityMetadata.dataSource.driver.escape(databaseName);
}

function hydrate(metadata: EntityMetadata, row: Readonly<Record<string, unknown>>): ObjectLiteral {
  const { driver } = metadata.dataSource;
  const entity = metadata.create() as ObjectLiteral;
  for (const column of metadata.columns) {
    entity[column.propertyName] = driver.prepareHydratedValue(row[column.databaseName], column) as unknown;
  }
  return entity;
}
