import type { EntityManager, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { columnOf } from './columns';
import { readPrepared, runPrepared, type Outcome, type Parameter } from './prepared';

/** A statement on some columns of a table. */
interface Shape {
  readonly sql: string;
  readonly columns: readonly ColumnMetadata[];
}

type Values = Readonly<Record<string, unknown>>;
type Compose = (metadata: EntityMetadata, columns: readonly string[]) => string;

/** The property that tells rows apart, and those that are looked for. */
export interface Wanted<E> {
  readonly property: keyof E & string;
  readonly ids: readonly number[];
}

const SHAPES = new WeakMap<EntityMetadata, Map<string, Shape>>();

/**
 * What is done often with rows of the library's own tables, without the query builder, which makes the same
 * SQL anew for every row: here it is made once per entity and set of properties. Entities of hosts may have more to them
 * (relations, hooks, columns that fill themselves); these are for TypeORM.
 */
export async function findRow<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  where: QueryDeepPartialEntity<E>,
): Promise<E | null> {
  const metadata = manager.dataSource.getMetadata(entity);
  const [row] = (await run(manager, metadata, where, select)).rows;
  return row ? (hydrate(metadata, row) as E) : null;
}

/** Outside a transaction: the rows with one of these ids that have these values besides. */
export async function findRows<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  where: QueryDeepPartialEntity<E>,
  { property, ids }: Wanted<E>,
): Promise<E[]> {
  const metadata = manager.dataSource.getMetadata(entity);
  // The last id again and again: few lengths make few statements to prepare.
  const places = 2 ** Math.ceil(Math.log2(ids.length));
  const padded = Array.from({ length: places }, (_, index) => String(ids[index] ?? ids.at(-1)));
  const properties = [...Object.keys(where), property];
  const shape = shapeOf(metadata, `among ${places} ${properties.join()}`, properties, (_, columns) =>
    selectAmong(metadata, columns, places),
  );
  const parameters = [...parametersOf(manager, shape.columns.slice(0, -1), where), ...padded];
  const rows = await readPrepared(manager.dataSource, shape.sql, parameters);
  return rows.map((row) => hydrate(metadata, row) as E);
}

/** Gives the id that the database made, if it makes ids. */
export async function insertRow<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  row: QueryDeepPartialEntity<E>,
): Promise<number> {
  return (await run(manager, manager.dataSource.getMetadata(entity), row, insert)).insertId;
}

function select(metadata: EntityMetadata, columns: readonly string[]): string {
  return `${selectWhere(metadata, columns.map(equals))} LIMIT 1`;
}

function selectAmong(metadata: EntityMetadata, columns: readonly string[], places: number): string {
  const among = `${columns.at(-1) ?? ''} IN (${Array(places).fill('?').join(', ')})`;
  return selectWhere(metadata, [...columns.slice(0, -1).map(equals), among]);
}

function selectWhere(metadata: EntityMetadata, conditions: readonly string[]): string {
  const all = metadata.columns.map(({ databaseName }) => escape(metadata, databaseName));
  return `SELECT ${all.join(', ')} FROM ${tableOf(metadata)} WHERE ${conditions.join(' AND ')}`;
}

function equals(column: string): string {
  return `${column} = ?`;
}

function insert(metadata: EntityMetadata, columns: readonly string[]): string {
  const places = columns.map(() => '?');
  return `INSERT INTO ${tableOf(metadata)} (${columns.join(', ')}) VALUES (${places.join(', ')})`;
}

function run(
  manager: EntityManager,
  metadata: EntityMetadata,
  values: Values,
  compose: Compose,
): Promise<Outcome> {
  const properties = Object.keys(values);
  const { sql, columns } = shapeOf(metadata, `${compose.name} ${properties.join()}`, properties, compose);
  return runPrepared(manager, sql, parametersOf(manager, columns, values));
}

function parametersOf(
  { dataSource: { driver } }: EntityManager,
  columns: readonly ColumnMetadata[],
  values: Values,
): Parameter[] {
  return columns.map((column) => {
    const value = values[column.propertyName];
    if (value === undefined) throw new Error(`${column.propertyName} has no value.`);
    return driver.preparePersistentValue(value, column) as Parameter;
  });
}

/** Made at its first use. */
function shapeOf(
  metadata: EntityMetadata,
  name: string,
  properties: readonly string[],
  compose: Compose,
): Shape {
  const shapes = SHAPES.get(metadata) ?? new Map<string, Shape>();
  SHAPES.set(metadata, shapes);
  const known = shapes.get(name);
  if (known) return known;
  const columns = properties.map((property) => columnOf(metadata, property));
  const names = columns.map(({ databaseName }) => escape(metadata, databaseName));
  const shape = { sql: compose(metadata, names), columns };
  shapes.set(name, shape);
  return shape;
}

function escape({ dataSource }: EntityMetadata, name: string): string {
  return dataSource.driver.escape(name);
}

function tableOf(metadata: EntityMetadata): string {
  const parts = metadata.tablePath.split('.');
  return parts.map((part) => escape(metadata, part)).join('.');
}

function hydrate(metadata: EntityMetadata, row: Values): ObjectLiteral {
  const { driver } = metadata.dataSource;
  const entity = metadata.create() as ObjectLiteral;
  for (const column of metadata.columns) {
    entity[column.propertyName] = driver.prepareHydratedValue(row[column.databaseName], column) as unknown;
  }
  return entity;
}
