import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from './columns';

const HOOKS = 'tenantry_webhook';
const DELIVERIES = 'tenantry_webhook_delivery';
const UNITS = 'tenantry_unit';
const INDEX = { name: 'ix_delivery_message', columnNames: ['webhook_id', 'message_id'] };

/**
 * Webhooks get a revision and the secrets that were replaced, deliveries are found by their message, and secrets go out of the answers
 * that are kept for repeated requests.
 */
export class WebhookSecrets1763164800019 implements MigrationInterface {
  name = 'WebhookSecrets1763164800019';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.add(HOOKS, c.integer('revision', { default: 0 }));
    await c.add(HOOKS, c.code('old_secrets', 500, { isNullable: true }));
    await c.addIndex(DELIVERIES, INDEX);
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
    await c.dropIndex(DELIVERIES, INDEX);
    for (const column of ['old_secrets', 'revision']) await c.drop(HOOKS, column);
  }
}
