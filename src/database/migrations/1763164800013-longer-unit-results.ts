import { TableColumn, type MigrationInterface, type QueryRunner } from 'typeorm';
import type { TableColumnOptions } from 'typeorm/schema-builder/options/TableColumnOptions.js';
import { Columns } from './columns';

const TABLE = 'tenantry_unit';

/** Results of units may be any JSON of up to 64 KB; they were 255 ASCII characters. */
export class LongerUnitResults1763164800013 implements MigrationInterface {
  name = 'LongerUnitResults1763164800013';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await change(runner, c, c.longText('result', 'utf8mb4', { isNullable: true }));
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    // What would not fit any more; SQLite does not mind.
    if (!c.isSqlite)
      await runner.query(`DELETE FROM ${TABLE} WHERE LENGTH(result) > LEAST(255, CHAR_LENGTH(result))`);
    await change(runner, c, c.code('result', 255, { isNullable: true }));
  }
}

async function change(runner: QueryRunner, c: Columns, column: TableColumnOptions): Promise<void> {
  // On MySQL not `changeColumn`: it would drop the column and add an empty one.
  if (c.isSqlite) await runner.changeColumn(TABLE, column.name, new TableColumn(column));
  else await runner.query(`ALTER TABLE ${TABLE} MODIFY ${column.name} ${c.sqlType(column)} NULL`);
}
