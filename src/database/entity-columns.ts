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

interface TimeOptions {
  readonly timezone?: string;
  readonly dateStrings?: boolean | string[];
}

/**
 * Makes TypeORM read and write the times of these entities in UTC, where the driver of MySQL takes all times to be in a zone that the
 * host has chosen for its own. For what the host itself asks of them: statements of the library do not depend on the zone.
 */
export function keepTimesInUtc(dataSource: DataSource, entities: readonly Entity[]): DataSource {
  const { options } = dataSource;
  if (options.type !== 'mysql' && options.type !== 'mariadb') return dataSource;
  const { timezone = 'local', dateStrings = false } = { ...options, ...(options.extra as TimeOptions) };
  const isText = Array.isArray(dateStrings) ? dateStrings.includes('DATETIME') : dateStrings;
  const written = offsetOf(timezone);
  // TypeORM takes texts to be local times.
  const read = isText ? null : written;
  const transformer: ValueTransformer = {
    to: (value: unknown) => (value instanceof Date ? toZone(value, written) : value),
    from: (value: unknown) => (value instanceof Date ? fromZone(value, read) : value),
  };
  const own = entities.filter((entity) => dataSource.hasMetadata(entity));
  for (const column of own.flatMap((entity) => dataSource.getMetadata(entity).columns))
    if (column.type === 'datetime') column.transformer = transformer;
  return dataSource;
}

/** The milliseconds by which a zone is ahead of UTC, from `+08:00` or `Z`; null is that of the process, where they change. */
function offsetOf(timezone: string): number | null {
  if (timezone === 'Z') return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(timezone) ?? [];
  return sign === undefined ? null : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** The moment when a clock in this zone shows what one in UTC shows at `time`. */
function toZone(time: Date, offset: number | null): Date {
  if (offset !== null) return new Date(time.getTime() - offset);
  const text = time.toISOString();
  // Without a zone it is a local time.
  return new Date(text.slice(0, -1));
}

/** The inverse of `toZone`. */
function fromZone(time: Date, offset: number | null): Date {
  return new Date(time.getTime() + (offset ?? -60_000 * time.getTimezoneOffset()));
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
