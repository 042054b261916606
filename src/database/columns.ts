import {
  Raw,
  type DataSource,
  type EntityMetadata,
  type FindOperator,
  type JoinColumnOptions,
  type ObjectLiteral,
  type ValueTransformer,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Of an entity whose table only migrations change: the `synchronize` and `migration:generate` of a host leave it alone. */
export const BY_MIGRATIONS = { synchronize: false } as const;

/**
 * A time. Every database has a type for `Date`; that of the column is what the migrations gave it. A host may have given the driver of
 * PostgreSQL a parser of its own: for numbers, or for objects of a library.
 */
export const instant = {
  type: Date,
  precision: 3,
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value == null || value instanceof Date ? value : new Date(Number(value))),
  },
} as const;

/** For codes and paths: one byte a character keeps their index keys short, and equality is to the byte. */
export const ascii = { charset: 'ascii', collation: 'ascii_bin' } as const;

/** For people's texts: in other collations two different emoji are equal. */
export const text = { charset: 'utf8mb4', collation: 'utf8mb4_bin' } as const;

/**
 * 64-bit ids are sent as text (TypeORM would write a number into the SQL itself and fill the statement cache with copies)
 * and come back as text from MySQL; as a field they are always a safe number.
 */
export const id: ValueTransformer = {
  to: (value: unknown) => (typeof value === 'number' ? String(value) : value),
  from: (value: string | number | null) => {
    if (value === null) return null;
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new RangeError(`The id ${value} is not a safe integer.`);
    return number;
  },
};

/** A time as a column without a time zone holds it, in UTC. */
export function toUtcText(time: Date): string {
  return time.toISOString().slice(0, -1).replace('T', ' ');
}

export function fromUtcText(text: string): Date {
  return new Date(`${text.replace(' ', 'T')}Z`);
}

/** What `@JoinColumn` says of a foreign key to the codes of tenants. */
export function toTenant(foreignKeyConstraintName: string, name = 'tenant_id'): JoinColumnOptions {
  return { name, referencedColumnName: 'tenantId', foreignKeyConstraintName };
}

/** The name of a table as SQL has it; a host may have chosen a schema on PostgreSQL. */
export function tableName({ driver, options }: DataSource, name: string): string {
  const { schema } = options as { readonly schema?: string };
  return schema === undefined ? driver.escape(name) : `${driver.escape(schema)}.${driver.escape(name)}`;
}

export function columnOf(metadata: EntityMetadata, property: string): ColumnMetadata {
  const column = metadata.findColumnWithPropertyName(property);
  if (!column) throw new Error(`${metadata.name} has no column for ${property}.`);
  return column;
}

const COLUMN_NAMES = new WeakMap<ColumnMetadata, string>();

/** The name of a column as SQL has it. */
export function columnName(column: ColumnMetadata, { driver }: DataSource): string {
  const known = COLUMN_NAMES.get(column);
  if (known !== undefined) return known;
  const name = driver.escape(column.databaseName);
  COLUMN_NAMES.set(column, name);
  return name;
}

/** What a row, or some values of it, have for this column. */
export function valueIn(row: ObjectLiteral, column: ColumnMetadata): unknown {
  // TypeORM's own function also looks at relations, which no row of ours has.
  return column.embeddedMetadata ? column.getEntityValue(row) : row[column.propertyName];
}

/** Whether every database gives the values of this column as an entity has them. */
export function comesAsItIs({ type, transformer }: ColumnMetadata): boolean {
  return !transformer && (type === 'varchar' || type === 'integer');
}

/**
 * That a column holds this text somewhere, to the byte. Not LIKE: there `%` and `_` mean something, and the databases
 * differ about upper and lower case.
 */
export function contains(text: string): FindOperator<string> {
  return Raw((column) => `:instr(${column}, :contained) > 0`, { contained: text }) as FindOperator<string>;
}
