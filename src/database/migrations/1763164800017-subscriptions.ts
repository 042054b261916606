import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

/** Webhooks, how far they and the handlers of changes have come in each journal, and which process serves which of them. */
export class Subscriptions1763164800017 implements MigrationInterface {
  name = 'Subscriptions1763164800017';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.create({
      name: 'tenantry_webhook',
      columns: [
        c.autoId('webhook_id'),
        c.code('tenant_id', 20),
        c.text('url', 2048),
        c.code('kinds', 64),
        c.code('secret', 64),
        c.code('status', 1),
        c.text('reason', 500, { isNullable: true }),
        c.text('create_by', 64),
        c.instant('create_time'),
        c.text('update_by', 64),
        c.instant('update_time', { isNullable: true }),
      ],
      indices: [{ name: 'ix_webhook_tenant', columnNames: ['tenant_id', 'webhook_id'] }],
      foreignKeys: [{ ...c.tenantKey('fk_webhook_tenant'), onDelete: 'CASCADE' }],
    });
    await c.create({
      name: 'tenantry_webhook_delivery',
      columns: [
        c.autoId('delivery_id'),
        c.code('tenant_id', 20),
        c.big('webhook_id'),
        c.code('message_id', 80),
        c.integer('attempt'),
        c.integer('status_code', { isNullable: true }),
        c.text('error', 500, { isNullable: true }),
        c.integer('duration_ms'),
        c.instant('sent_at'),
      ],
      indices: [
        { name: 'ix_delivery_webhook', columnNames: ['webhook_id', 'delivery_id'] },
        { name: 'ix_delivery_expiry', columnNames: ['sent_at'] },
      ],
      foreignKeys: [
        {
          name: 'fk_delivery_webhook',
          columnNames: ['webhook_id'],
          referencedTableName: 'tenantry_webhook',
          referencedColumnNames: ['webhook_id'],
          onDelete: 'CASCADE',
          onUpdate: 'NO ACTION',
        },
      ],
    });
    await c.create({
      name: 'tenantry_change_position',
      columns: [
        c.code('journal', 20, { isPrimary: true }),
        c.code('subscription', 80, { isPrimary: true }),
        c.big('webhook_id'),
        c.big('version'),
        c.integer('seq'),
        c.integer('attempts'),
        c.instant('failing_since', { isNullable: true }),
        c.instant('retry_at', { isNullable: true }),
      ],
      indices: [{ name: 'ix_position_webhook', columnNames: ['webhook_id'] }],
      foreignKeys: [{ ...c.tenantKey('fk_position_journal'), columnNames: ['journal'], onDelete: 'CASCADE' }],
    });
    await c.create({
      name: 'tenantry_lease',
      columns: [c.code('name', 80, { isPrimary: true }), c.code('owner', 36), c.instant('expires_at')],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['lease', 'change_position', 'webhook_delivery', 'webhook'])
      await runner.dropTable(`tenantry_${table}`);
  }
}
