import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

export class Accounts1763164800002 implements MigrationInterface {
  name = 'Accounts1763164800002';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
        name: 'tenantry_account',
        columns: [
          c.autoId('user_id'),
          c.code('tenant_id', 20),
          c.text('username', 64),
          c.code('password_hash', 255),
          c.big('dept_id', { isNullable: true }),
          c.code('roles', 255),
          ...c.life(),
        ],
        indices: [
          { name: 'ux_account_username', columnNames: ['tenant_id', 'username'], isUnique: true },
          { name: 'ix_account_dept', columnNames: ['tenant_id', 'dept_id'] },
        ],
        foreignKeys: [c.tenantKey('fk_account_tenant')],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_account');
  }
}
