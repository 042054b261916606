import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

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
          c.big('tree_ver'),
          ...c.life(),
        ],
        indices: [{ name: 'ux_tenant_code', columnNames: ['tenant_id'], isUnique: true }],
      }),
    );
    await runner.query(
      `INSERT INTO tenantry_tenant
         (id, tenant_id, tenant_name, tree_ver, status, del_flag, create_by, create_time, update_by)
       VALUES ('1', '000000', '平台', 0, '0', '0', 'system', CURRENT_TIMESTAMP, '')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_tenant');
  }
}
