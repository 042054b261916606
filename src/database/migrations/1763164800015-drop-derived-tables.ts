import type { MigrationInterface, QueryRunner } from 'typeorm';
import { IdBlocks1763164800004 } from './1763164800004-id-blocks';
import { DeptNames1763164800009 } from './1763164800009-dept-names';

/** Ids of tenants are made inside the lock on their tree, and names are searched in the departments themselves. */
export class DropDerivedTables1763164800015 implements MigrationInterface {
  name = 'DropDerivedTables1763164800015';

  async up(runner: QueryRunner): Promise<void> {
    // MySQL commits each of these by itself: a run that was cut between them goes on with the second.
    await runner.dropTable('tenantry_dept_name', true);
    await runner.dropTable('tenantry_id_block', true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new IdBlocks1763164800004().up(runner);
    await new DeptNames1763164800009().up(runner);
  }
}
