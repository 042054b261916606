import { getMetadataArgsStorage, type ColumnOptions, type DataSourceOptions } from 'typeorm';

type Entity = new () => object;

/** Types that PostgreSQL has by another name. */
const POSTGRES_TYPES: Readonly<Partial<Record<string, ColumnOptions['type']>>> = {
  datetime: 'timestamp with time zone',
  mediumtext: 'text',
};

const decorated = new WeakMap<ColumnOptions, ColumnOptions>();

/**
 * Gives these entities the types and collations of a database. Decorators cannot: they are evaluated before any database is
 * known, and TypeORM refuses a type that a database does not have. A DataSource reads them when it is initialised.
 */
export function describeColumnsFor(type: DataSourceOptions['type'], entities: readonly Entity[]): void {
  const classes = new Set<unknown>(entities.flatMap(partsOf));
  for (const { target, options } of getMetadataArgsStorage().columns) {
    if (!classes.has(target)) continue;
    const original = decorated.get(options) ?? { ...options };
    decorated.set(options, original);
    Object.assign(options, original, type === 'postgres' && inPostgres(original));
  }
}

function inPostgres({ type, collation }: ColumnOptions): ColumnOptions {
  const named = POSTGRES_TYPES[String(type)];
  return { ...(named && { type: named }), ...(collation !== undefined && { charset: '', collation: 'C' }) };
}

/** The classes that have columns of this entity: itself, those that it extends, those that are embedded. */
function partsOf(entity: Entity): Entity[] {
  const classes: Entity[] = [];
  for (let each = entity; each.prototype; each = Object.getPrototypeOf(each) as Entity) classes.push(each);
  const embedded = getMetadataArgsStorage().filterEmbeddeds(classes);
  return [...classes, ...embedded.map(({ type }) => type() as Entity)];
}
