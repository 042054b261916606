import { randomBytes } from 'node:crypto';
import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

/** What all processes on one database must agree on: at first the key that seals cursors. */
export class Settings1763164800010 implements MigrationInterface {
  name = 'Settings1763164800010';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
        name: 'tenantry_setting',
        columns: [c.code('name', 64, { isPrimary: true }), c.code('value', 255)],
      }),
    );
    const key = randomBytes(32).toString('hex');
    await runner.query(`INSERT INTO tenantry_setting (name, value) VALUES ('cursor-key', '${key}')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_setting');
  }
}
