import type { MigrationInterface, QueryRunner } from 'typeorm';

const REVISED = ['tenantry_dept', 'tenantry_tenant', 'tenantry_account'];

/** What conditional changes are held against. */
export class Revisions1763164800007 implements MigrationInterface {
  name = 'Revisions1763164800007';

  async up(runner: QueryRunner): Promise<void> {
    // Not through TypeORM: on SQLite it would copy the tables. With a default, an older version can still write.
    for (const table of REVISED) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN revision integer NOT NULL DEFAULT 0`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of REVISED) await runner.query(`ALTER TABLE ${table} DROP COLUMN revision`);
  }
}
