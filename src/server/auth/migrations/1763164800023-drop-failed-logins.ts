import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from '../../../database/migrations/columns';

const ACCOUNTS = 'tenantry_account';

/** Columns of accounts that only version 0.1 has used. */
export class DropFailedLogins1763164800023 implements MigrationInterface {
  name = 'DropFailedLogins1763164800023';
  readonly olderReplicasMustStop = true;

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const column of ['failed_logins', 'locked_until']) await c.drop(ACCOUNTS, column);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.add(ACCOUNTS, c.integer('failed_logins', { default: 0 }));
    await c.add(ACCOUNTS, c.instant('locked_until', { isNullable: true }));
  }
}
