import type { ChangedFields, ChangeEntity, JournalFields } from '../database/change-log';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import type { ZonedTime } from '../time/zoned-time';
import type { ChangeDto } from './change.dto';

const TIMES = ['createTime', 'updateTime'];

/** An entry as a caller of this tenant sees it: of a tenant that has moved, no parent outside of the caller's own subtree. */
export function toChangeView(entry: ChangeEntity, time: ZonedTime, callerTenantId: string): ChangeDto {
  const { tenantId, version, seq, prev, kind, operation, resourceId, by, happenedAt, requestId } = entry;
  const { before, after } = JSON.parse(entry.fields) as ChangedFields;
  const [pathBefore = '', pathAfter = pathBefore] = entry.lineage?.split(';') ?? [];
  const view = (fields: JournalFields | null, path: string): JournalFields | null =>
    withoutForeignParent(inZone(fields, time), path, callerTenantId);
  return {
    tenantId,
    version,
    seq,
    prev,
    kind,
    operation,
    id: kind === 'tenant' ? resourceId : Number(resourceId),
    before: view(before, pathBefore),
    after: view(after, pathAfter),
    by,
    time: time.format(happenedAt),
    requestId,
  };
}

function inZone(fields: JournalFields | null, time: ZonedTime): JournalFields | null {
  if (!fields) return null;
  const shown = { ...fields };
  for (const name of TIMES)
    if (typeof shown[name] === 'string') shown[name] = time.format(new Date(shown[name]));
  return shown;
}

function withoutForeignParent(
  fields: JournalFields | null,
  path: string,
  callerTenantId: string,
): JournalFields | null {
  if (!fields || !('tenantParent' in fields) || callerTenantId === PLATFORM_TENANT) return fields;
  const codes = path.split(',').filter(Boolean);
  // The path ends with the tenant itself; its parent must be the caller's tenant or below it.
  const isWithin = codes.slice(0, -1).includes(callerTenantId);
  return isWithin ? fields : { ...fields, tenantParent: null };
}
