import type { EntityManager, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { runPrepared, type Parameter } from './prepared';

/** A statement on some columns of a table. */
interface Shape {
  readonly sql: string;
  readonly columns: readonly ColumnMetadata[];
}

type Values = Readonly<Record<string, unknown>>;
type Compose = (metadata: EntityMetadata, columns: readonly string[]) => string;

const SHAPES = new WeakMap<EntityMetadata, Map<string, Shape>>();

/**
 * What units of work do with single rows of the library's own tables, without the query builder, which makes the same
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

/** Gives the id that the database made, if it makes ids. */
export async function insertRow<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  row: QueryDeepPartialEntity<E>,
): Promise<number> {
  return (await run(manager, manager.dataSource.getMetadata(entity), row, insert)).insertId;
}

function select(metadata: EntityMetadata, columns: readonly string[]): string {
  const all = metadata.columns.map(({ databaseName }) => escape(metadata, databaseName));
  const conditions = columns.map((column) => `${column} = ?`);
  return `SELECT ${all.join(', ')} FROM ${tableOf(metadata)} WHERE ${conditions.join(' AND ')} LIMIT 1`;
}

function insert(metadata: EntityMetadata, columns: readonly string[]): string {
  const places = columns.map(() => '?');
  return `INSERT INTO ${tableOf(metadata)} (${columns.join(', ')}) VALUES (${places.join(', ')})`;
}

async function run(manager: EntityManager, metadata: EntityMetadata, values: Values, compose: Compose) {
  const properties = Object.keys(values);
  const { sql, columns } = shapeOf(metadata, properties, compose);
  const { driver } = manager.dataSource;
  const parameters = columns.map((column) => {
    const value = values[column.propertyName];
    if (value === undefined) throw new Error(`${column.propertyName} has no value.`);
    return driver.preparePersistentValue(value, column) as Parameter;
  });
  return runPrepared(manager, sql, parameters);
}

function shapeOf(metadata: EntityMetadata, properties: readonly string[], compose: Compose): Shape {
  const shapes = SHAPES.get(metadata) ?? new Map<string, Shape>();
  SHAPES.set(metadata, shapes);
  const name = `${compose.name} ${properties.join()}`;
  const known = shapes.get(name);
  if (known) return known;
  const columns = properties.map((property) => columnOf(metadata, property));
  const names = columns.map(({ databaseName }) => escape(metadata, databaseName));
  const shape = { sql: compose(metadata, names), columns };
  shapes.set(name, shape);
  return shape;
}

function columnOf(metadata: EntityMetadata, property: string): ColumnMetadata {
  const column = metadata.findColumnWithPropertyName(property);
  if (!column) throw new Error(`${metadata.name} has no column for ${property}.`);
  return column;
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
