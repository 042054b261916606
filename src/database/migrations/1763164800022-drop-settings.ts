import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A table that held only a key by which versions before 0.4 signed cursors. */
export class DropSettings1763164800022 implements MigrationInterface {
  name = 'DropSettings1763164800022';
  readonly olderReplicasMustStop = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_setting', true);
  }

  /** Nothing: no code of this version reads it. To go back to a version before, restore its backup. */
  async down(): Promise<void> {
    return Promise.resolve();
  }
}
