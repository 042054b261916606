import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

export class Sessions1763164800005 implements MigrationInterface {
  name = 'Sessions1763164800005';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
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
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_session');
  }
}
