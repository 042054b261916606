import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

const TABLE = 'tenantry_change';

/** The journal. What happened before it is unknown: each tenant gets an entry that says from which version on it is kept. */
export class Journal1763164800016 implements MigrationInterface {
  name = 'Journal1763164800016';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.create({
      name: TABLE,
      columns: [
        c.code('tenant_id', 20, { isPrimary: true }),
        c.big('version', { isPrimary: true }),
        c.integer('seq', { isPrimary: true }),
        c.big('prev'),
        c.code('kind', 16),
        c.code('operation', 16),
        c.code('resource_id', 20),
        c.longText('lineage', 'ascii', { isNullable: true }),
        c.longText('fields', 'utf8mb4'),
        c.text('changed_by', 64),
        c.instant('happened_at'),
        c.code('request_id', 64, { isNullable: true }),
      ],
      indices: [
        { name: 'ix_change_resource', columnNames: ['tenant_id', 'kind', 'resource_id', 'version', 'seq'] },
        { name: 'ix_change_time', columnNames: ['tenant_id', 'happened_at'] },
        { name: 'ix_change_expiry', columnNames: ['happened_at'] },
      ],
      foreignKeys: [{ ...c.tenantKey('fk_change_tenant'), onDelete: 'CASCADE' }],
    });
    await c.query(
      `INSERT INTO ${c.table(TABLE)} (tenant_id, version, seq, prev, kind, operation, resource_id, fields, changed_by, happened_at)
       SELECT tenant_id, tree_ver, 0, tree_ver, 'journal', 'begun', tenant_id, '{}', 'system', '${c.now()}'
       FROM ${c.table('tenantry_tenant')} t
       WHERE NOT EXISTS (SELECT 1 FROM ${c.table(TABLE)} begun WHERE begun.tenant_id = t.tenant_id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable(TABLE);
  }
}
