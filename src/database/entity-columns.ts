import {
  DataSource,
  getMetadataArgsStorage,
  type ColumnOptions,
  type DataSourceOptions,
  type ValueTransformer,
} from 'typeorm';

type Entity = new () => object;

/** Types that PostgreSQL has by another name. */
const POSTGRES_TYPES: Readonly<Partial<Record<string, ColumnOptions['type']>>> = {
  datetime: 'timestamp with time zone',
  mediumtext: 'text',
};

/** Of a time. A host may have given the driver a parser of its own: for numbers, or for objects of a library. */
const instant: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value == null || value instanceof Date ? value : new Date(Number(value))),
};

/** What `inPostgres` may add to a column; named, so that it is taken away again. */
const NOTHING_ADDED: object = { transformer: undefined };

const decorated = new WeakMap<ColumnOptions, ColumnOptions>();

/**
 * Gives these entities the types and collations of a database. Decorators cannot: they are evaluated before any database is
 * known, and TypeORM refuses a type that a database does not have. A DataSource reads them when it is initialised. Gives a
 * function that undoes it.
 */
export function describeColumnsFor(type: DataSourceOptions['type'], entities: readonly Entity[]): () => void {
  const classes = new Set<unknown>(entities.flatMap(partsOf));
  const columns = getMetadataArgsStorage().columns.filter(({ target }) => classes.has(target));
  const before = columns.map(({ options }) => ({ ...NOTHING_ADDED, ...options }));
  for (const { options } of columns) {
    const original = decorated.get(options) ?? { ...NOTHING_ADDED, ...options };
    decorated.set(options, original);
    Object.assign(options, original, type === 'postgres' && inPostgres(original));
  }
  return () => {
    for (const [index, { options }] of columns.entries()) Object.assign(options, before[index]);
  };
}

/** A DataSource of this package: it sees the columns as its own database has them, whatever others in this process need. */
export class DescribedDataSource extends DataSource {
  protected override async buildMetadatas(): Promise<void> {
    const { type, entities = [] } = this.options;
    const all: unknown[] = Array.isArray(entities) ? entities : Object.values(entities);
    const classes = all.filter((entity): entity is Entity => typeof entity === 'function');
    const undo = describeColumnsFor(type, classes);
    try {
      await super.buildMetadatas();
    } finally {
      undo();
    }
  }
}

function inPostgres({ type, collation }: ColumnOptions): ColumnOptions {
  const named = POSTGRES_TYPES[String(type)];
  const read = type === 'datetime' && { transformer: instant };
  return {
    ...(named && { type: named }),
    ...read,
    ...(collation !== undefined && { charset: '', collation: 'C' }),
  };
}

/** The classes that have columns of this entity: itself, those that it extends, those that are embedded. */
function partsOf(entity: Entity): Entity[] {
  const classes: Entity[] = [];
  for (let each = entity; each.prototype; each = Object.getPrototypeOf(each) as Entity) classes.push(each);
  const embedded = getMetadataArgsStorage().filterEmbeddeds(classes);
  return [...classes, ...embedded.map(({ type }) => type() as Entity)];
}
