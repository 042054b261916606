import type { ChangeEntity } from './change-log';
import type { ZonedTime } from '../time/zoned-time';
import type { ChangeDto } from '../web/change.dto';

type Parsed = Record<'before' | 'after', Record<string, unknown> | null>;

/** The fields that are instants, stored as ISO 8601. */
const TIMES = ['createTime', 'updateTime'];

/** An entry as callers of this tenant may see it. Entries of the kind `journal` are shown to no one. */
export function toChangeDto(entry: ChangeEntity, time: ZonedTime, callerTenantId: string): ChangeDto {
  const { tenantId, version, seq, prev, resourceId, by, requestId } = entry;
  const { before, after } = JSON.parse(entry.fields) as Parsed;
  const [from, to = from] = entry.lineage?.split(';') ?? [];
  return {
    tenantId,
    version,
    seq,
    prev,
    kind: entry.kind as ChangeDto['kind'],
    operation: entry.operation as ChangeDto['operation'],
    id: entry.kind === 'tenant' ? resourceId : Number(resourceId),
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
function shown(
  fields: Record<string, unknown> | null,
  time: ZonedTime,
  isVisible: boolean,
): ChangeDto['before'] {
  if (!fields) return null;
  for (const name of TIMES) {
    const value = fields[name];
    if (typeof value === 'string') fields[name] = time.format(new Date(value));
  }
  // Of a tenant that has moved in or out, the parent that the caller does not reach.
  if (!isVisible && 'tenantParent' in fields) fields.tenantParent = null;
  return fields;
}
