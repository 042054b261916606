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
          // 0 while the account lives, then its id: a deleted account gives its name free.
          c.big('name_key'),
          c.code('password_hash', 255),
          c.text('nickname', 64, { isNullable: true }),
          c.big('dept_id', { isNullable: true }),
          c.text('email', 100, { isNullable: true }),
          c.text('phone', 32, { isNullable: true }),
          c.code('roles', 255),
          c.integer('failed_logins'),
          c.instant('locked_until', { isNullable: true }),
          ...c.life(),
        ],
        indices: [
          { name: 'ux_account_username', columnNames: ['tenant_id', 'username', 'name_key'], isUnique: true },
          { name: 'ix_account_dept', columnNames: ['tenant_id', 'dept_id'] },
          { name: 'ix_account_live', columnNames: ['tenant_id', 'del_flag', 'user_id'] },
        ],
        foreignKeys: [c.tenantKey('fk_account_tenant')],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_account');
  }
}
