import { Table, TableForeignKey, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

/**
 * Wrong passwords by account and client, in the place of a counter in the account. A column that every sign-in changes,
 * in the place of the tenant's lock. failed_logins and locked_until stay for the version before this one.
 */
export class FailedSignIns1763164800011 implements MigrationInterface {
  name = 'FailedSignIns1763164800011';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
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
      }),
    );
    await c.query(
      `ALTER TABLE ${c.table('tenantry_account')} ADD COLUMN sign_ins ${c.big('sign_ins').type} NOT NULL DEFAULT 0`,
    );
    // To check it MySQL locks the tenant's row, which every structural write of the tenant holds.
    await runner.dropForeignKey('tenantry_session', 'fk_session_tenant');
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    const key = new TableForeignKey(c.tenantKey('fk_session_tenant'));
    await runner.createForeignKey('tenantry_session', key);
    await c.query(`ALTER TABLE ${c.table('tenantry_account')} DROP COLUMN sign_ins`);
    await runner.dropTable('tenantry_failed_sign_in');
  }
}
