import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

export class Units1763164800003 implements MigrationInterface {
  name = 'Units1763164800003';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
        name: 'tenantry_unit',
        columns: [c.code('unit_id', 36, { isPrimary: true }), c.instant('created_at')],
        indices: [{ name: 'ix_unit_created', columnNames: ['created_at'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_unit');
  }
}
