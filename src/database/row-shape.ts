import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { columnOf, comesAsItIs } from './columns';
import { dataSourceOf } from './tenantry.data-source';

type Row = Record<string, unknown>;

const SHAPES = new WeakMap<EntityMetadata, Map<readonly string[] | null, RowShape>>();

/** Some columns of a table, or all: how a statement asks for them, and how what it gives becomes fields. */
export class RowShape {
  /** For the list after SELECT. */
  readonly sql: string;
  readonly #metadata: EntityMetadata;
  readonly #columns: readonly ColumnMetadata[];
  readonly #converted: readonly ColumnMetadata[];

  private constructor(metadata: EntityMetadata, columns: readonly ColumnMetadata[]) {
    const { driver } = dataSourceOf(metadata);
    this.sql = columns
      .map((column) => `t.${driver.escape(column.databaseName)} AS ${driver.escape(column.propertyPath)}`)
      .join(', ');
    this.#metadata = metadata;
    this.#columns = columns;
    this.#converted = columns.filter((column) => !comesAsItIs(column));
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
