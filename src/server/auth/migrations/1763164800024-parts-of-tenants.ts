import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { TableColumnOptions } from 'typeorm/schema-builder/options/TableColumnOptions.js';
import { Columns } from '../../../database/migrations/columns';

const ACCOUNTS = 'tenantry_account';
const SESSIONS = 'tenantry_session';
const KEYS = 'tenantry_key';

/** What accounts manage and whose rows they see, what sessions are limited to, and keys. The version before does not know it, and writes none. */
export class PartsOfTenants1763164800024 implements MigrationInterface {
  name = 'PartsOfTenants1763164800024';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    const parts = partColumns(c);
    for (const column of parts) await c.add(ACCOUNTS, column);
    await c.add(SESSIONS, c.code('scope', 500, { isNullable: true }));
    await c.create({
      name: KEYS,
      columns: [
        c.autoId('key_id'),
        c.code('tenant_id', 20),
        c.text('name', 60),
        c.big('name_key'),
        c.code('secret_hash', 64),
        c.code('roles', 255),
        c.code('permissions', 500),
        ...parts,
        c.instant('end_time', { isNullable: true }),
        c.instant('last_used_time', { isNullable: true }),
        ...c.audit(),
      ],
      indices: [
        { name: 'ux_key_name', columnNames: ['tenant_id', 'name', 'name_key'], isUnique: true },
        { name: 'ux_key_secret', columnNames: ['secret_hash'], isUnique: true },
        { name: 'ix_key_live', columnNames: ['tenant_id', 'del_flag', 'key_id'] },
      ],
      foreignKeys: [c.tenantKey('fk_key_tenant')],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.dropTable(KEYS);
    // The version before would give them tokens without their limit.
    await c.query(`DELETE FROM ${c.table(SESSIONS)} WHERE scope IS NOT NULL`);
    await c.drop(SESSIONS, 'scope');
    for (const { name } of partColumns(c).toReversed()) await c.drop(ACCOUNTS, name);
  }
}

function partColumns(c: Columns): TableColumnOptions[] {
  return [
    c.code('managed_dept_ids', 900, { isNullable: true }),
    c.code('data_scope', 16, { default: "'all'" }),
    c.code('scope_dept_ids', 900, { isNullable: true }),
  ];
}
