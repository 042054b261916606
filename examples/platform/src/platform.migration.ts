import { Table, TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

const id = (name: string) => ({
  name,
  type: 'integer',
  isPrimary: true,
  isGenerated: true,
  generationStrategy: 'increment' as const,
});
const text = (name: string, length = '64') => ({ name, type: 'varchar', length });

export class PlatformTables1800000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'platform_staff',
        columns: [
          id('staff_id'),
          text('tenant_id', '20'),
          text('email', '128'),
          text('key_hash'),
          text('role', '20'),
          { name: 'dept_id', type: 'bigint', isNullable: true },
        ],
        indices: [new TableIndex({ columnNames: ['key_hash'], isUnique: true })],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'platform_order',
        columns: [
          id('order_id'),
          text('tenant_id', '20'),
          { name: 'dept_id', type: 'bigint' },
          text('title'),
          { name: 'amount', type: 'integer' },
          text('state', '10'),
        ],
        indices: [new TableIndex({ columnNames: ['tenant_id'] })],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('platform_order');
    await runner.dropTable('platform_staff');
  }
}
