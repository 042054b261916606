import { Table, TableForeignKey, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from '../../../database/migrations/columns';

/**
 * Accounts and sessions as version 0.1 had them, where they are not there: the first migration of the library used to make them, in
 * databases of hosts too. Wrong passwords by account and client, in the place of a counter in the account. A column that every
 * sign-in changes, in the place of the tenant's lock. failed_logins and locked_until are dropped by a later migration.
 */
export class FailedSignIns1763164800011 implements MigrationInterface {
  name = 'FailedSignIns1763164800011';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of tablesOf01(c)) await runner.createTable(table, true);
    await c.create({
      name: 'tenantry_failed_sign_in',
      columns: [
        c.code('attempt_id', 36, { isPrimary: true }),
        c.code('account_hash', 64),
        c.code('client', 45),
        c.instant('failed_at'),
      ],
      indices: [
        { name: 'ix_failed_sign_in_account', columnNames: ['account_hash', 'client', 'failed_at'] },
        { name: 'ix_failed_sign_in_time', columnNames: ['failed_at'] },
      ],
    });
    await c.add('tenantry_account', c.big('sign_ins', { default: 0 }));
    // To check it MySQL locks the tenant's row, which every structural write of the tenant holds.
    await c.dropForeignKey('tenantry_session', c.tenantKey('fk_session_tenant'));
  }

  /** Leaves accounts and sessions to the version before this one. */
  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    const key = new TableForeignKey(c.tenantKey('fk_session_tenant'));
    await runner.createForeignKey('tenantry_session', key);
    await c.drop('tenantry_account', 'sign_ins');
    await runner.dropTable('tenantry_failed_sign_in');
  }
}

function tablesOf01(c: Columns): Table[] {
  return [
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
        ...c.audit(),
      ],
      indices: [
        { name: 'ux_account_username', columnNames: ['tenant_id', 'username', 'name_key'], isUnique: true },
        { name: 'ix_account_live', columnNames: ['tenant_id', 'del_flag', 'user_id'] },
        { name: 'ix_account_members', columnNames: ['tenant_id', 'del_flag', 'dept_id', 'user_id'] },
      ],
      foreignKeys: [c.tenantKey('fk_account_tenant')],
    }),
    new Table({
      name: 'tenantry_session',
      columns: [
        c.code('session_id', 36, { isPrimary: true }),
        c.code('tenant_id', 20),
        c.big('user_id'),
        c.code('refresh_hash', 64),
        c.instant('created_at'),
        c.instant('expires_at'),
        c.instant('ended_at', { isNullable: true }),
      ],
      indices: [
        { name: 'ix_session_user', columnNames: ['tenant_id', 'user_id'] },
        { name: 'ix_session_expires', columnNames: ['expires_at'] },
      ],
      foreignKeys: [c.tenantKey('fk_session_tenant')],
    }),
  ];
}
