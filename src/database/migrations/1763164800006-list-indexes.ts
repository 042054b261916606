import { TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

/** New ways to find rows; each replaces or stands beside an index that could not keep the order of a list. */
const ADDED: readonly (readonly [table: string, name: string, columns: readonly string[]])[] = [
  ['tenantry_dept', 'ix_dept_subtree', ['tenant_id', 'del_flag', 'ancestors', 'order_num', 'dept_id']],
  ['tenantry_dept', 'ix_dept_children', ['tenant_id', 'del_flag', 'parent_id', 'order_num', 'dept_id']],
  ['tenantry_dept', 'ix_dept_sibling', ['tenant_id', 'del_flag', 'parent_id', 'dept_name', 'dept_id']],
  ['tenantry_dept', 'ix_dept_order', ['tenant_id', 'del_flag', 'order_num', 'dept_id']],
  ['tenantry_dept', 'ix_dept_leader', ['tenant_id', 'del_flag', 'leader', 'order_num', 'dept_id']],
  ['tenantry_dept', 'ix_dept_status', ['tenant_id', 'del_flag', 'status', 'order_num', 'dept_id']],
  ['tenantry_tenant', 'ix_tenant_children', ['tenant_parent', 'id']],
  ['tenantry_tenant', 'ix_tenant_end', ['end_time', 'id']],
  ['tenantry_account', 'ix_account_members', ['tenant_id', 'del_flag', 'dept_id', 'user_id']],
];
const REPLACED: typeof ADDED = [
  ['tenantry_dept', 'ix_dept_path', ['tenant_id', 'ancestors']],
  ['tenantry_dept', 'ix_dept_parent', ['tenant_id', 'parent_id', 'order_num', 'dept_id']],
  ['tenantry_tenant', 'ix_tenant_parent', ['tenant_parent']],
  ['tenantry_account', 'ix_account_dept', ['tenant_id', 'dept_id']],
];

/** Every list and search on an index that also has its order. */
export class ListIndexes1763164800006 implements MigrationInterface {
  name = 'ListIndexes1763164800006';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, name, columns] of ADDED) await addIndex(runner, table, name, columns);
    for (const [table, name] of REPLACED) await runner.dropIndex(table, name);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, name, columns] of REPLACED) await addIndex(runner, table, name, columns);
    for (const [table, name] of ADDED) await runner.dropIndex(table, name);
  }
}

async function addIndex(
  runner: QueryRunner,
  table: string,
  name: string,
  columnNames: readonly string[],
): Promise<void> {
  await runner.createIndex(table, new TableIndex({ name, columnNames: [...columnNames] }));
}
