import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

/** Every ending of every live department's name: what the search for a part of a name reads. */
export class DeptNames1763164800009 implements MigrationInterface {
  name = 'DeptNames1763164800009';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.createTable(
      new Table({
        name: 'tenantry_dept_name',
        columns: [
          c.big('dept_id', { isPrimary: true }),
          c.integer('position', { isPrimary: true }),
          c.code('tenant_id', 20),
          c.bytes('suffix', 256),
        ],
        indices: [{ name: 'ix_dept_name_suffix', columnNames: ['tenant_id', 'suffix', 'dept_id'] }],
      }),
    );
    await runner.query(
      `INSERT INTO tenantry_dept_name (dept_id, position, tenant_id, suffix)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64)
       SELECT d.dept_id, n.i, d.tenant_id, SUBSTR(d.dept_name, n.i)
         FROM tenantry_dept d JOIN n ON SUBSTR(d.dept_name, n.i) <> '' WHERE d.del_flag = '0'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenantry_dept_name');
  }
}
