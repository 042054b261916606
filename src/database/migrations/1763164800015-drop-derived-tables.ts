import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables that only version 0.1 has made: ids of tenants, and endings of names to search in. */
export class DropDerivedTables1763164800015 implements MigrationInterface {
  name = 'DropDerivedTables1763164800015';

  async up(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_dept_name', true);
    await runner.dropTable('tenantry_id_block', true);
  }

  /** Nothing: all that was in them follows from other tables, and no code of this version reads them. */
  async down(): Promise<void> {
    return Promise.resolve();
  }
}
