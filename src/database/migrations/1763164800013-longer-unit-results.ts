import { TableColumn, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

const TABLE = 'tenantry_unit';

/** Results of units may be any JSON of up to 64 KB; they were 255 ASCII characters. */
export class LongerUnitResults1763164800013 implements MigrationInterface {
  name = 'LongerUnitResults1763164800013';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    // On MySQL not `changeColumn`: it would drop the column and add an empty one.
    if (c.isMysql) await runner.query(`ALTER TABLE ${TABLE} MODIFY result ${c.longTextType} NULL`);
    else
      await runner.changeColumn(TABLE, 'result', new TableColumn(c.longText('result', { isNullable: true })));
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    if (!c.isMysql) {
      await runner.changeColumn(
        TABLE,
        'result',
        new TableColumn(c.code('result', 255, { isNullable: true })),
      );
      return;
    }
    // What would not fit any more.
    await runner.query(`DELETE FROM ${TABLE} WHERE LENGTH(result) > LEAST(255, CHAR_LENGTH(result))`);
    await runner.query(`ALTER TABLE ${TABLE} MODIFY result ${c.codeType(255)} NULL`);
  }
}
