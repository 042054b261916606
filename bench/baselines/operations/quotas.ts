import { holding, type Transaction } from './database';
import { formatTime, HttpError, operation } from './operation';

const OF = 'WHERE kind = ? AND tenant_id = ?';
const LOCK = `UPDATE tenantry_quota SET last_seq = last_seq + 1 ${OF}`;
const WITH_KEY = 'WHERE e.tenant_id = t.tenant_id AND e.kind = t.kind AND e.entry_key = ?';
const COUNTER = `SELECT t.kind, t.total, t.used, t.reserved, t.last_seq,
  (SELECT d.del_flag FROM tenantry_tenant d WHERE d.tenant_id = t.tenant_id) AS del_flag,
  (SELECT e.seq FROM tenantry_quota_entry e ${WITH_KEY}) AS entry,
  (SELECT e.amount FROM tenantry_quota_reservation e ${WITH_KEY}) AS reservation FROM tenantry_quota t ${OF}`;
const COUNT = `UPDATE tenantry_quota SET used = ?, reserved = ? ${OF}`;
const ADD = `INSERT INTO tenantry_quota_entry (tenant_id, kind, seq, operation, amount, entry_key, of_key, available, note,
  create_by, create_time) VALUES (?, ?, ?, 'use', ?, ?, NULL, ?, ?, ?, ?)`;

interface Counter {
  total: number;
  used: number;
  reserved: number;
  last_seq: number;
  del_flag: string;
  entry: number | null;
  reservation: number | null;
}

interface Sent {
  amount?: number;
  key: string;
  note?: string | null;
}

operation('post', '/system/quota-api/:kind/use', async (caller, { params, body }) => {
  const { amount = 1, key, note = null } = body as Sent;
  const kind = String(params.kind);
  const { tenantId, username } = caller;
  const of = [kind, tenantId];
  const entry = await holding(LOCK, of, async (tx) => {
    const [counter] = await tx.read<Counter>(COUNTER, [key, key, ...of]);
    if (counter?.del_flag !== '0') throw new HttpError(403);
    if (counter.entry !== null || counter.reservation !== null) throw new HttpError(422);
    const available = counter.total < 0 ? null : counter.total - counter.used - counter.reserved - amount;
    if (available !== null && available < 0) throw new HttpError(409);
    await tx.change(COUNT, [counter.used + amount, counter.reserved, ...of]);
    const now = new Date();
    const values = [tenantId, kind, counter.last_seq, amount, key, available, note, username, now];
    await tx.change(ADD, values);
    const created = { createBy: username, createTime: formatTime(now) };
    return {
      kind,
      seq: counter.last_seq,
      operation: 'use',
      amount,
      key,
      ofKey: null,
      available,
      note,
      ...created,
    };
  });
  return { data: entry };
});

const KINDS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
];

/** The counters of a new tenant. */
export async function addCounters(tx: Transaction, tenantId: string, totals: object): Promise<void> {
  await tx.change(
    `INSERT INTO tenantry_quota (tenant_id, kind, total, used, reserved, last_seq)
     VALUES ${KINDS.map(() => '(?, ?, ?, 0, 0, 0)').join(', ')}`,
    KINDS.flatMap((kind) => [tenantId, kind, (totals as Record<string, number>)[kind] ?? 0]),
  );
}
