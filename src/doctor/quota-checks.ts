import { CONTRACT_QUOTAS } from '../tenant/quota/quota-kinds';

/** What the doctor asks about quotas. Each is one statement over all tenants, so it sees one moment. */

const columnOf = (kind: string) => `quota_${kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
const TOTALS = CONTRACT_QUOTAS.map(
  (kind) => `SELECT tenant_id, '${kind}' AS kind, ${columnOf(kind)} AS total FROM tenantry_tenant`,
).join(' UNION ALL ');

/**
 * Every quota that has a counter, an entry or a reservation; `is` is counted, `should` follows from the rest. A counter is made with
 * its tenant, or where that was made by an older version, when it is needed.
 */
const QUOTAS = `
  SELECT k.tenant_id, k.kind, q.kind AS counter, q.total AS is_total, s.total AS should_total,
         COALESCE(q.used, 0) AS is_used, COALESCE(e.amount, 0) AS should_used,
         COALESCE(q.reserved, 0) AS is_reserved, COALESCE(r.amount, 0) AS should_reserved,
         COALESCE(q.last_seq, 0) AS is_seq, COALESCE(e.seq, 0) AS least_seq
    FROM (SELECT tenant_id, kind FROM tenantry_quota UNION SELECT tenant_id, kind FROM tenantry_quota_entry
          UNION SELECT tenant_id, kind FROM tenantry_quota_reservation) k
    LEFT JOIN tenantry_quota q ON q.tenant_id = k.tenant_id AND q.kind = k.kind
    LEFT JOIN (${TOTALS}) s ON s.tenant_id = k.tenant_id AND s.kind = k.kind
    LEFT JOIN (SELECT tenant_id, kind, SUM(amount) AS amount, MAX(seq) AS seq FROM tenantry_quota_entry
                GROUP BY tenant_id, kind) e ON e.tenant_id = k.tenant_id AND e.kind = k.kind
    LEFT JOIN (SELECT tenant_id, kind, SUM(amount) AS amount FROM tenantry_quota_reservation
                WHERE state = 'active' GROUP BY tenant_id, kind) r ON r.tenant_id = k.tenant_id AND r.kind = k.kind`;

export const WRONG_QUOTAS = `SELECT * FROM (${QUOTAS}) w
   WHERE w.counter IS NULL OR w.is_used <> w.should_used OR w.is_reserved <> w.should_reserved OR w.is_seq < w.least_seq
      OR w.should_total IS NOT NULL AND COALESCE(w.is_total, w.should_total) <> w.should_total
   ORDER BY w.tenant_id, w.kind`;

/** The total of a parent, and what its children have together; the platform has no limit. */
export const QUOTAS_BEYOND_PARENT = `
  SELECT p.tenant_id AS tenant, p.kind AS kind FROM (${TOTALS}) p
    JOIN tenantry_tenant c ON c.tenant_parent = p.tenant_id AND c.del_flag = '0'
    JOIN (${TOTALS}) q ON q.tenant_id = c.tenant_id AND q.kind = p.kind
   WHERE p.total >= 0 AND p.tenant_id <> '000000'
   GROUP BY p.tenant_id, p.kind, p.total HAVING SUM(q.total) > p.total OR MIN(q.total) < 0
   ORDER BY p.tenant_id, p.kind`;
