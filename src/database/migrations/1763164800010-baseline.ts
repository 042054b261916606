import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

const QUOTAS =
  'enterprise_query annual_report_query chain_report business_report risk_report merchant risk_report_used zr credit pf'
    .split(' ')
    .map((name) => `quota_${name}`);
const RULES = 'model_zr model_pf model_ed catalog_zr catalog_pf catalog_ed catalog_rw'
  .split(' ')
  .map((name) => `rule_${name}`);

const NOT_BY_MIGRATIONS =
  'The tables of Tenantry are there, but no migration has made them. If nothing in them is needed, drop all tables whose names begin ' +
  'with tenantry_, and run the migrations again.';

/**
 * The schema of version 0.1, without the tables that a later migration drops and those of accounts. It has the name of the last
 * of the eleven migrations of 0.1: a database that 0.1 has made has recorded it and keeps what it has; an empty one gets all of
 * it here. It used to make the tables of accounts too; they are the service's alone now (`FailedSignIns1763164800011`).
 */
export class Settings1763164800010 implements MigrationInterface {
  name = 'Settings1763164800010';

  async up(runner: QueryRunner): Promise<void> {
    // A later migration makes this one. Earlier versions of the entities let TypeORM's synchronize make it.
    if (await runner.hasTable('tenantry_change')) throw new Error(NOT_BY_MIGRATIONS);
    const c = new Columns(runner);
    for (const table of tables(c)) await runner.createTable(table, true);
    if (await isEmpty(c, 'tenantry_tenant')) {
      await c.query(
        `INSERT INTO ${c.table('tenantry_tenant')}
           (id, tenant_id, tenant_name, ancestors, depth, account_count, menu_ids, ${QUOTAS.join(', ')},
            tree_ver, status, del_flag, create_by, create_time, update_by)
         VALUES ('1', '000000', '平台', '0', 1, -1, '', ${QUOTAS.map(() => '0').join(', ')},
            0, '0', '0', 'system', '${c.now()}', '')`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    // Where there are accounts, they refer to the tenants that go here.
    for (const name of ['tenantry_session', 'tenantry_account']) await runner.dropTable(name, true);
    for (const { name } of tables(new Columns(runner)).reverse()) await runner.dropTable(name);
  }
}

async function isEmpty(c: Columns, table: string): Promise<boolean> {
  const rows = await c.query(`SELECT 1 FROM ${c.table(table)} LIMIT 1`);
  return rows.length === 0;
}

function tables(c: Columns): Table[] {
  return [
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
        c.longText('menu_ids', 'ascii'),
        ...QUOTAS.map((name) => c.integer(name)),
        ...RULES.map((name) => c.longText(name, 'utf8mb4', { isNullable: true })),
        c.big('tree_ver'),
        ...c.audit(),
      ],
      indices: [
        { name: 'ux_tenant_code', columnNames: ['tenant_id'], isUnique: true },
        { name: 'ix_tenant_path', columnNames: ['ancestors'] },
        { name: 'ix_tenant_children', columnNames: ['tenant_parent', 'id'] },
        { name: 'ix_tenant_end', columnNames: ['end_time', 'id'] },
      ],
    }),
    new Table({
      name: 'tenantry_dept',
      columns: [
        c.autoId('dept_id'),
        c.code('tenant_id', 20),
        c.big('parent_id'),
        c.code('ancestors', 1100),
        c.integer('depth'),
        c.text('dept_name', 64),
        c.integer('order_num'),
        c.text('leader', 64, { isNullable: true }),
        c.text('phone', 32, { isNullable: true }),
        c.text('email', 100, { isNullable: true }),
        ...c.audit(),
      ],
      // Every list and search has an index that also has its order.
      indices: Object.entries({
        ix_dept_subtree: ['ancestors', 'order_num'],
        ix_dept_children: ['parent_id', 'order_num'],
        ix_dept_sibling: ['parent_id', 'dept_name'],
        ix_dept_order: ['order_num'],
        ix_dept_leader: ['leader', 'order_num'],
        ix_dept_status: ['status', 'order_num'],
      }).map(([name, columns]) => ({ name, columnNames: ['tenant_id', 'del_flag', ...columns, 'dept_id'] })),
      foreignKeys: [c.tenantKey('fk_dept_tenant')],
    }),
    new Table({
      name: 'tenantry_unit',
      columns: [
        c.code('unit_id', 36, { isPrimary: true }),
        c.instant('created_at'),
        c.code('body_hash', 64, { isNullable: true }),
        c.code('result', 255, { isNullable: true }),
      ],
      indices: [{ name: 'ix_unit_created', columnNames: ['created_at'] }],
    }),
  ];
}
