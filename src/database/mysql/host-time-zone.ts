import type { DataSource, ValueTransformer } from 'typeorm';
import { instant } from '../columns';

interface TimeOptions {
  readonly timezone?: string;
  readonly dateStrings?: boolean | string[];
}

/**
 * Makes TypeORM read and write the times of these entities in UTC, where the driver of MySQL takes all times to be in a zone that the
 * host has chosen for its own. For what the host itself asks of them: statements of the library do not depend on the zone.
 */
export function keepTimesInUtc(dataSource: DataSource, entities: readonly (new () => object)[]): DataSource {
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
    if (column.type === instant.type) column.transformer = transformer;
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
