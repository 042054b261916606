import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

const CONTRACT_QUOTAS = {
  enterpriseQuery: 'quota_enterprise_query',
  annualReportQuery: 'quota_annual_report_query',
  chainReport: 'quota_chain_report',
  businessReport: 'quota_business_report',
  riskReport: 'quota_risk_report',
  merchant: 'quota_merchant',
};

/** What tenants have used and reserved of their quotas, and the ledger of it. */
export class Quotas1763164800018 implements MigrationInterface {
  name = 'Quotas1763164800018';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    const quota = [c.code('tenant_id', 20, { isPrimary: true }), c.code('kind', 64, { isPrimary: true })];
    await c.create({
      name: 'tenantry_quota',
      columns: [
        ...quota,
        c.integer('total', { isNullable: true }),
        c.big('used'),
        c.big('reserved'),
        c.big('last_seq'),
      ],
    });
    await c.create({
      name: 'tenantry_quota_entry',
      columns: [
        ...quota,
        c.big('seq', { isPrimary: true }),
        c.code('operation', 8),
        c.big('amount'),
        c.text('entry_key', 255, { isNullable: true }),
        c.text('of_key', 255, { isNullable: true }),
        c.big('available', { isNullable: true }),
        c.text('note', 500, { isNullable: true }),
        c.text('create_by', 64),
        c.instant('create_time'),
      ],
      indices: [
        { name: 'ux_quota_entry_key', columnNames: ['tenant_id', 'kind', 'entry_key'], isUnique: true },
        { name: 'ix_quota_entry_refunds', columnNames: ['tenant_id', 'kind', 'of_key'] },
        { name: 'ix_quota_entry_time', columnNames: ['create_time'] },
      ],
    });
    await c.create({
      name: 'tenantry_quota_reservation',
      columns: [
        ...quota,
        c.text('entry_key', 255, { isPrimary: true }),
        c.big('amount'),
        c.code('state', 10),
        c.instant('expires_at'),
        c.text('create_by', 64),
        c.instant('create_time'),
      ],
      indices: [{ name: 'ix_reservation_state', columnNames: ['state', 'expires_at'] }],
    });
    for (const [kind, column] of Object.entries(CONTRACT_QUOTAS))
      await c.query(
        `INSERT INTO ${c.table('tenantry_quota')} (tenant_id, kind, total, used, reserved, last_seq)
         SELECT tenant_id, '${kind}', ${column}, 0, 0, 0 FROM ${c.table('tenantry_tenant')} t
         WHERE NOT EXISTS (
           SELECT 1 FROM ${c.table('tenantry_quota')} q WHERE q.tenant_id = t.tenant_id AND q.kind = '${kind}'
         )`,
      );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['quota_reservation', 'quota_entry', 'quota'])
      await runner.dropTable(`tenantry_${table}`);
  }
}
