import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

/** What a repeated request with the same Idempotency-Key is answered from. */
export class UnitAnswers1763164800008 implements MigrationInterface {
  name = 'UnitAnswers1763164800008';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.query(`ALTER TABLE tenantry_unit ADD COLUMN body_hash ${c.codeType(64)} NULL`);
    await runner.query(`ALTER TABLE tenantry_unit ADD COLUMN result ${c.codeType(255)} NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE tenantry_unit DROP COLUMN result');
    await runner.query('ALTER TABLE tenantry_unit DROP COLUMN body_hash');
  }
}
