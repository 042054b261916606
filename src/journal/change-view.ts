import type { ZonedTime } from '../time/zoned-time';
import { ID_TYPES, type TenantryChange, type ChangeKind, type ChangeOperation } from './change-log';

type Fields = Record<string, unknown> | null;

/** An entry as callers see it. Times are texts in the service's time zone. */
export interface ChangeView extends Pick<
  TenantryChange,
  'tenantId' | 'version' | 'seq' | 'prev' | 'by' | 'requestId'
> {
  readonly kind: ChangeKind;
  readonly operation: ChangeOperation;
  readonly id: number | string;
  readonly before: Fields;
  readonly after: Fields;
  readonly time: string;
}

/** The fields that may be instants, stored as ISO 8601. The end of a tenant is a day. */
const TIMES = ['createTime', 'updateTime', 'endTime'];
const IS_INSTANT = /T.*Z$/;

/** An entry as callers of this tenant may see it. Entries of the kind `journal` are shown to no one. */
export function toChangeView(entry: TenantryChange, time: ZonedTime, callerTenantId: string): ChangeView {
  const { tenantId, version, seq, prev, resourceId, by, requestId } = entry;
  const kind = entry.kind as ChangeKind;
  const { before, after } = JSON.parse(entry.fields) as Record<'before' | 'after', Fields>;
  const [from, to = from] = entry.lineage?.split(';') ?? [];
  return {
    tenantId,
    version,
    seq,
    prev,
    kind,
    operation: entry.operation as ChangeOperation,
    id: ID_TYPES[kind](resourceId),
    before: shown(before, time, isReached(from, callerTenantId)),
    after: shown(after, time, isReached(to, callerTenantId)),
    by,
    time: time.format(entry.happenedAt),
    requestId,
  };
}

/** Whether a tenant with this path is the caller's own or below it; what has no path is the caller's. */
function isReached(lineage: string | undefined, tenantId: string): boolean {
  return lineage === undefined || lineage.includes(`,${tenantId},`);
}

/** Changes the fields themselves: they were parsed for this. */
function shown(fields: Fields, time: ZonedTime, isVisible: boolean): Fields {
  if (!fields) return null;
  for (const name of TIMES) {
    const value = fields[name];
    if (typeof value === 'string' && IS_INSTANT.test(value)) fields[name] = time.format(new Date(value));
  }
  // Of a tenant that has moved in or out, the parent that the caller does not reach.
  if (!isVisible && 'tenantParent' in fields) fields.tenantParent = null;
  return fields;
}
