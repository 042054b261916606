import { randomInt } from 'node:crypto';
import { inTransaction, read, type Transaction } from './database';
import { addCounters } from './quotas';
import {
  forget,
  HttpError,
  pageOf,
  placeIn,
  PLATFORM,
  operation,
  changed,
  created,
  reading,
  changeCursor,
  type Caller,
} from './operation';

const PATH = '/system/tenant-api';
const EPOCH = Date.UTC(2024, 0, 1);
const LISTED = `t.id, t.tenant_id, t.tenant_name, t.tenant_parent, t.start_time, t.end_time, t.contact_user_name,
  t.contact_phone, t.company_name, t.status, t.account_count`;
const QUOTAS = {
  enterpriseQuery: 'quota_enterprise_query',
  annualReportQuery: 'quota_annual_report_query',
  chainReport: 'quota_chain_report',
  businessReport: 'quota_business_report',
  riskReport: 'quota_risk_report',
  merchant: 'quota_merchant',
};
const RULES = {
  modelZr: 'rule_model_zr',
  modelPf: 'rule_model_pf',
  modelEd: 'rule_model_ed',
  catalogZr: 'rule_catalog_zr',
  catalogPf: 'rule_catalog_pf',
  catalogEd: 'rule_catalog_ed',
  catalogRw: 'rule_catalog_rw',
};
const ALL = `${LISTED}, t.menu_ids, t.ancestors, t.depth, t.revision,
  ${[...Object.values(QUOTAS), ...Object.values(RULES)].map((name) => `t.${name}`).join(', ')}`;
/** The caller's own tenant and all below it. */
const REACHED = `(t.tenant_id = ? OR INSTR(CONCAT(',', t.ancestors, ','), CONCAT(',', ?, ',')) > 0) AND t.del_flag = '0'`;
const HAS_CHILDREN = `EXISTS (SELECT 1 FROM tenantry_tenant child WHERE child.tenant_parent = t.tenant_id
  AND child.del_flag = '0') AS has_children`;

type TenantRow = Record<string, string | number | null> & {
  id: string;
  tenant_id: string;
  ancestors: string;
  depth: number;
  revision: number;
};

function summary(row: TenantRow) {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    tenantName: row.tenant_name,
    tenantParent: row.tenant_parent,
    startTime: row.start_time,
    endTime: row.end_time,
    contactUserName: row.contact_user_name,
    contactPhone: row.contact_phone,
    companyName: row.company_name,
    status: row.status,
    accountCount: row.account_count,
  };
}

function tenantJson(row: TenantRow) {
  return Object.assign(summary(row), {
    packageBo: { menuIds: row.menu_ids },
    quotaBo: {
      enterpriseQuery: row.quota_enterprise_query,
      annualReportQuery: row.quota_annual_report_query,
      chainReport: row.quota_chain_report,
      businessReport: row.quota_business_report,
      riskReport: row.quota_risk_report,
      merchant: row.quota_merchant,
    },
    ruleBo: {
      modelZr: row.rule_model_zr,
      modelPf: row.rule_model_pf,
      modelEd: row.rule_model_ed,
      catalogZr: row.rule_catalog_zr,
      catalogPf: row.rule_catalog_pf,
      catalogEd: row.rule_catalog_ed,
      catalogRw: row.rule_catalog_rw,
    },
  });
}

export async function findTenant(
  { tenantId }: Caller,
  column: 'id' | 'tenant_id',
  value: string,
  tx: Pick<Transaction, 'read'> = { read },
): Promise<TenantRow> {
  const sql = `SELECT ${ALL} FROM tenantry_tenant t WHERE t.${column} = ? AND ${REACHED}`;
  const [row] = await tx.read<TenantRow>(sql, [value, tenantId, tenantId]);
  if (!row) throw new HttpError(404);
  return row;
}

operation('get', PATH, async (caller, { query }) => {
  const headers = await changeCursor(caller);
  const limit = Number(query.limit);
  const [after = ''] = placeIn(query.cursor) ?? [];
  const own = await findTenant(caller, 'tenant_id', caller.tenantId);
  const path = `${own.ancestors},${own.tenant_id}`;
  const found = await read<TenantRow>(
    `SELECT ${LISTED}, ${HAS_CHILDREN} FROM tenantry_tenant t
      WHERE (t.id = ? OR (t.ancestors >= ? AND t.ancestors < ?)) AND t.del_flag = '0' AND t.id > ?
      ORDER BY t.id LIMIT ${limit + 1}`,
    [own.id, path, `${path}-`, after],
  );
  const rows = found.map((row) =>
    Object.assign(summary(row), { state: stateOf(row), hasChildren: row.has_children === 1 }),
  );
  return reading(pageOf('tenant', caller, query, { rows, limit, keyOf: (row) => [row.id] }), { headers });
});

function stateOf({ status }: TenantRow): string {
  return status === '0' ? 'ACTIVE' : 'DISABLED';
}

operation('get', `${PATH}/:id`, async (caller, { params }) => {
  const row = await findTenant(caller, 'id', String(params.id));
  return reading(tenantJson(row), { revision: row.revision });
});

/** Writes to the tree of tenants, which hold the platform's row, for a caller whose own tenant still exists. */
function inTenantTree<T>({ tenantId }: Caller, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return inTransaction(PLATFORM, async (tx) => {
    const sql = "SELECT 1 FROM tenantry_tenant WHERE tenant_id = ? AND del_flag = '0'";
    if ((await tx.read(sql, [tenantId])).length === 0) throw new HttpError(403);
    return work(tx);
  });
}

type TenantJson = ReturnType<typeof tenantJson>;
type TenantSent = { [K in keyof TenantJson]?: TenantJson[K] | undefined };

/** The columns that a client decides about, with their values. */
function columnsOf(sent: TenantSent): [columns: string[], values: (string | number | null)[]] {
  const columns: Record<string, string | number | null> = {
    tenant_name: sent.tenantName ?? '',
    start_time: sent.startTime ?? null,
    end_time: sent.endTime ?? null,
    contact_user_name: sent.contactUserName ?? null,
    contact_phone: sent.contactPhone ?? null,
    company_name: sent.companyName ?? null,
    status: sent.status ?? '0',
    account_count: sent.accountCount ?? -1,
    menu_ids: sent.packageBo?.menuIds ?? '',
  };
  for (const [field, column] of Object.entries(QUOTAS))
    columns[column] = sent.quotaBo?.[field as keyof typeof QUOTAS] ?? 0;
  for (const [field, column] of Object.entries(RULES))
    columns[column] = sent.ruleBo?.[field as keyof typeof RULES] ?? null;
  return [Object.keys(columns), Object.values(columns)];
}

operation('post', PATH, async (caller, request) => {
  const [columns, values] = columnsOf(request.body as TenantSent);
  const id = await inTenantTree(caller, async (tx) => {
    const parent = await findTenant(caller, 'tenant_id', caller.tenantId, tx);
    const now = new Date();
    const first = BigInt(now.getTime() - EPOCH) << 22n;
    const [latest] = await tx.read<{ id: string }>(
      'SELECT id FROM tenantry_tenant WHERE id >= ? AND LENGTH(id) = ? ORDER BY id DESC LIMIT 1',
      [String(first), String(first).length],
    );
    const next = String(latest ? BigInt(latest.id) + 1n : first);
    const codes = Array.from({ length: 100 }, () => String(randomInt(100_000, 1_000_000)));
    const taken = await tx.read<{ tenant_id: string }>(
      `SELECT tenant_id FROM tenantry_tenant WHERE tenant_id IN (${codes.map(() => '?').join(', ')})`,
      codes,
    );
    const code = codes.find((each) => !taken.some(({ tenant_id }) => tenant_id === each)) ?? '';
    const place = [caller.tenantId, `${parent.ancestors},${caller.tenantId}`, parent.depth + 1];
    await tx.change(
      `INSERT INTO tenantry_tenant (${columns.join(', ')}, id, tenant_id, tenant_parent, ancestors, depth, create_by,
         create_time, quota_risk_report_used, quota_zr, quota_credit, quota_pf, tree_ver, del_flag, update_by)
       VALUES (${columns.map(() => '?').join(', ')}, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, '0', '')`,
      [...values, next, code, ...place, caller.username, now],
    );
    await addCounters(tx, code, (request.body as TenantSent).quotaBo ?? {});
    const after = { ...(request.body as TenantSent), tenantId: code, tenantParent: caller.tenantId };
    const lineage = `,${parent.ancestors},${caller.tenantId},${code},`;
    const { username: by } = caller;
    tx.note({ kind: 'tenant', operation: 'created', id: next, before: null, after, lineage, by });
    return next;
  });
  return created(request, id);
});

async function replace(
  tx: Transaction,
  { username }: Caller,
  row: TenantRow,
  sent: TenantSent,
): Promise<number> {
  const [columns, values] = columnsOf(sent);
  await tx.change(
    `UPDATE tenantry_tenant SET ${columns.map((name) => `${name} = ?`).join(', ')}, update_by = ?, update_time = ?,
       revision = revision + 1 WHERE id = ? AND del_flag = '0'`,
    [...values, username, new Date(), row.id],
  );
  const lineage = `,${row.ancestors},${row.tenant_id},`;
  const before = tenantJson(row);
  tx.note({ kind: 'tenant', operation: 'updated', id: row.id, before, after: sent, lineage, by: username });
  forget(row.tenant_id);
  return row.revision + 1;
}

operation('put', PATH, async (caller, { body }) => {
  const sent = body as TenantSent;
  const revision = await inTenantTree(caller, async (tx) =>
    replace(tx, caller, await findTenant(caller, 'id', sent.id ?? '', tx), sent),
  );
  return changed(revision);
});

operation('patch', `${PATH}/:id`, async (caller, { params, body }) => {
  const revision = await inTenantTree(caller, async (tx) => {
    const row = await findTenant(caller, 'id', String(params.id), tx);
    return replace(tx, caller, row, { ...tenantJson(row), ...(body as TenantSent) });
  });
  return changed(revision);
});

operation('delete', `${PATH}/:id`, async (caller, { params }) => {
  await inTenantTree(caller, async (tx) => {
    const row = await findTenant(caller, 'id', String(params.id), tx);
    const children = "SELECT 1 FROM tenantry_tenant WHERE tenant_parent = ? AND del_flag = '0' LIMIT 1";
    if ((await tx.read(children, [row.tenant_id])).length > 0) throw new HttpError(409);
    await tx.change(
      "UPDATE tenantry_tenant SET del_flag = '2', update_by = ?, update_time = ?, revision = revision + 1 WHERE id = ?",
      [caller.username, new Date(), row.id],
    );
    const lineage = `,${row.ancestors},${row.tenant_id},`;
    const about = { before: tenantJson(row), lineage, by: caller.username };
    tx.note({ kind: 'tenant', operation: 'deleted', id: row.id, after: null, ...about });
    forget(row.tenant_id);
  });
  return { data: null };
});
