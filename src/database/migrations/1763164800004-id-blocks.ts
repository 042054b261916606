import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

const WORKERS = 1024;

/** One row per worker number of a snowflake id: up to which millisecond its ids have been given away. */
export class IdBlocks1763164800004 implements MigrationInterface {
  name = 'IdBlocks1763164800004';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
        name: 'tenantry_id_block',
        columns: [c.integer('worker', { isPrimary: true }), c.big('reserved_until')],
      }),
    );
    const rows = Array.from({ length: WORKERS }, (_, worker) => `(${worker}, 0)`);
    await runner.query(`INSERT INTO tenantry_id_block (worker, reserved_until) VALUES ${rows.join(', ')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_id_block');
  }
}
