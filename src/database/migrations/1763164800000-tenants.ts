import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

const QUOTAS = [
  'quota_enterprise_query',
  'quota_annual_report_query',
  'quota_chain_report',
  'quota_business_report',
  'quota_risk_report',
  'quota_merchant',
  'quota_risk_report_used',
  'quota_zr',
  'quota_credit',
  'quota_pf',
];
const RULES = [
  'rule_model_zr',
  'rule_model_pf',
  'rule_model_ed',
  'rule_catalog_zr',
  'rule_catalog_pf',
  'rule_catalog_ed',
  'rule_catalog_rw',
];

/** Tenants, with the platform's own: departments and accounts refer to it from the first row on. */
export class Tenants1763164800000 implements MigrationInterface {
  name = 'Tenants1763164800000';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
        name: 'tenantry_tenant',
        columns: [
          c.code('id', 20, { isPrimary: true }),
          c.code('tenant_id', 20),
          c.text('tenant_name', 128),
          c.code('tenant_parent', 20, { isNullable: true }),
          c.code('ancestors', 1100),
          c.integer('depth'),
          c.code('start_time', 10, { isNullable: true }),
          c.code('end_time', 10, { isNullable: true }),
          c.text('contact_user_name', 64, { isNullable: true }),
          c.text('contact_phone', 64, { isNullable: true }),
          c.text('company_name', 128, { isNullable: true }),
          c.integer('account_count'),
          c.longCode('menu_ids'),
          ...QUOTAS.map((name) => c.integer(name)),
          ...RULES.map((name) => c.longText(name, { isNullable: true })),
          c.big('tree_ver'),
          ...c.life(),
        ],
        indices: [
          { name: 'ux_tenant_code', columnNames: ['tenant_id'], isUnique: true },
          { name: 'ix_tenant_path', columnNames: ['ancestors'] },
          { name: 'ix_tenant_parent', columnNames: ['tenant_parent'] },
        ],
      }),
    );
    await runner.query(
      `INSERT INTO tenantry_tenant
         (id, tenant_id, tenant_name, ancestors, depth, account_count, menu_ids, ${QUOTAS.join(', ')},
          tree_ver, status, del_flag, create_by, create_time, update_by)
       VALUES ('1', '000000', '平台', '0', 1, -1, '', ${QUOTAS.map(() => '0').join(', ')},
          0, '0', '0', 'system', CURRENT_TIMESTAMP, '')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_tenant');
  }
}
