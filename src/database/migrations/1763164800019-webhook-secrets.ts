import { TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns } from './columns';

const HOOKS = 'tenantry_webhook';
const DELIVERIES = 'tenantry_webhook_delivery';
const UNITS = 'tenantry_unit';
const INDEX = 'ix_delivery_message';

/**
 * Webhooks get a revision and the secrets that were replaced, deliveries are found by their message, and secrets go out of the answers
 * that are kept for repeated requests.
 */
export class WebhookSecrets1763164800019 implements MigrationInterface {
  name = 'WebhookSecrets1763164800019';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    const hooks = c.table(HOOKS);
    await c.query(
      `ALTER TABLE ${hooks} ADD COLUMN revision ${c.integer('revision').type} NOT NULL DEFAULT 0`,
    );
    await c.query(
      `ALTER TABLE ${hooks} ADD COLUMN old_secrets ${c.sqlType(c.code('old_secrets', 500))} NULL`,
    );
    await runner.createIndex(
      DELIVERIES,
      new TableIndex({ name: INDEX, columnNames: ['webhook_id', 'message_id'] }),
    );
    const units = c.table(UNITS);
    const kept = await c.query(`SELECT unit_id, result FROM ${units} WHERE result LIKE ?`, [
      '{"id":%,"secret":"whsec%',
    ]);
    for (const { unit_id: unitId, result } of kept as { unit_id: string; result: string }[]) {
      const { id } = JSON.parse(result) as { id: number };
      await c.query(`UPDATE ${units} SET result = ? WHERE unit_id = ?`, [JSON.stringify({ id }), unitId]);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await runner.dropIndex(DELIVERIES, INDEX);
    for (const column of ['old_secrets', 'revision'])
      await c.query(`ALTER TABLE ${c.table(HOOKS)} DROP COLUMN ${column}`);
  }
}
