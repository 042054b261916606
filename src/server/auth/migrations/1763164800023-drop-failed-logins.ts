import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from '../../../database/migrations/columns';

/** Columns of accounts that only version 0.1 has used. */
export class DropFailedLogins1763164800023 implements MigrationInterface {
  name = 'DropFailedLogins1763164800023';
  readonly olderReplicasMustStop = true;

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const column of ['failed_logins', 'locked_until'])
      await c.query(`ALTER TABLE ${c.table('tenantry_account')} DROP COLUMN ${column}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    const columns = [
      `failed_logins ${c.integer('').type} NOT NULL DEFAULT 0`,
      `locked_until ${c.instant('').type}`,
    ];
    for (const column of columns)
      await c.query(`ALTER TABLE ${c.table('tenantry_account')} ADD COLUMN ${column}`);
  }
}
