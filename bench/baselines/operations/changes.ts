import { read } from './database';
import { formatTime, operation, pageOf, reading } from './operation';

interface ChangeRow {
  tenant_id: string;
  version: number;
  seq: number;
  prev: number;
  kind: string;
  operation: string;
  resource_id: string;
  fields: string;
  changed_by: string;
  happened_at: Date;
  request_id: string | null;
}

type Fields = Record<string, unknown> | null;

/** Instants are ISO texts in the journal. */
function shown(fields: Fields): Fields {
  if (!fields) return null;
  for (const name of ['createTime', 'updateTime'])
    if (typeof fields[name] === 'string') fields[name] = formatTime(new Date(fields[name]));
  return fields;
}

operation('get', '/system/change-api', async (caller, { query }) => {
  const limit = Number(query.limit);
  const found = await read<ChangeRow>(
    `SELECT t.tenant_id, t.version, t.seq, t.prev, t.kind, t.operation, t.resource_id, t.lineage, t.fields, t.changed_by,
       t.happened_at, t.request_id FROM tenantry_change t
      WHERE t.tenant_id = ? AND t.version >= 0 AND t.kind = 'dept' ORDER BY t.version, t.seq LIMIT ${limit + 1}`,
    [caller.tenantId],
  );
  const rows = found.map((row) => {
    const { before, after } = JSON.parse(row.fields) as { before: Fields; after: Fields };
    return {
      tenantId: row.tenant_id,
      version: row.version,
      seq: row.seq,
      prev: row.prev,
      kind: row.kind,
      operation: row.operation,
      id: Number(row.resource_id),
      before: shown(before),
      after: shown(after),
      by: row.changed_by,
      time: formatTime(row.happened_at),
      requestId: row.request_id,
    };
  });
  const keyOf = ({ version, seq }: (typeof rows)[number]) => [version, seq];
  return reading(pageOf('change', caller, query, { rows, limit, keyOf }));
});
