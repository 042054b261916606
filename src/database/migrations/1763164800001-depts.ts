import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

export class Depts1763164800001 implements MigrationInterface {
  name = 'Depts1763164800001';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
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
          ...c.life(),
        ],
        indices: [
          { name: 'ix_dept_path', columnNames: ['tenant_id', 'ancestors'] },
          { name: 'ix_dept_parent', columnNames: ['tenant_id', 'parent_id', 'order_num', 'dept_id'] },
        ],
        foreignKeys: [c.tenantKey('fk_dept_tenant')],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_dept');
  }
}
