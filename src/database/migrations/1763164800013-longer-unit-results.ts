import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

const TABLE = 'tenantry_unit';

/** Results of units may be any JSON of up to 64 KB; they were 255 ASCII characters. */
export class LongerUnitResults1763164800013 implements MigrationInterface {
  name = 'LongerUnitResults1763164800013';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.changeType(TABLE, c.longText('result', 'utf8mb4', { isNullable: true }));
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    // What would not fit any more; SQLite does not mind.
    if (!c.isSqlite)
      await c.query(
        `DELETE FROM ${c.table(TABLE)} WHERE OCTET_LENGTH(result) > LEAST(255, CHAR_LENGTH(result))`,
      );
    await c.changeType(TABLE, c.code('result', 255, { isNullable: true }));
  }
}
