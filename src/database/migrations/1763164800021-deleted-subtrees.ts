import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

const TABLE = 'tenantry_dept';

/** What was deleted together with a department above it, so that it is restored with it. The version before does not know it. */
export class DeletedSubtrees1763164800021 implements MigrationInterface {
  name = 'DeletedSubtrees1763164800021';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.add(TABLE, c.big('deleted_with', { isNullable: true }));
  }

  async down(runner: QueryRunner): Promise<void> {
    await new Columns(runner).drop(TABLE, 'deleted_with');
  }
}
