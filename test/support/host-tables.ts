import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Table,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { TenantryDept, TenantryTenant, type TenantOwned } from '../../src/index';
import { onPostgres } from './test-database';

@Entity('host_order')
export class OrderEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'order_id' })
  orderId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @ManyToOne(() => TenantryTenant, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'tenant_id', referencedColumnName: 'tenantId' })
  tenant?: TenantryTenant;

  @Column({ type: 'varchar', length: 64 })
  title!: string;

  @Column({ type: 'integer' })
  amount!: number;
}

@Entity('host_line')
export class LineEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'line_id' })
  lineId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ name: 'order_id', type: 'integer' })
  orderId!: number;
}

@Entity('host_user')
export class HostUserEntity {
  @PrimaryGeneratedColumn({ name: 'user_id' })
  userId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ name: 'dept_id', type: 'integer' })
  deptId!: number;
}

@Entity('host_currency')
export class CurrencyEntity {
  @PrimaryColumn({ type: 'varchar', length: 3 })
  code!: string;
}

@Entity('host_visit')
export class VisitEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'visit_id' })
  visitId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @ManyToOne(() => TenantryDept, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'dept_id' })
  dept?: TenantryDept;

  @Column({ name: 'dept_id', type: 'integer' })
  deptId!: number;

  @Column({ type: onPostgres ? 'timestamp with time zone' : 'datetime', precision: 3 })
  at!: Date;
}

export const hostEntities = [OrderEntity, LineEntity, HostUserEntity, CurrencyEntity, VisitEntity];

const key = (name: string) => ({
  name,
  type: 'integer',
  isPrimary: true,
  isGenerated: true,
  generationStrategy: 'increment' as const,
});
const text = (name: string) => ({ name, type: 'varchar', length: '64' });
const time = (name: string) => ({
  name,
  type: onPostgres ? 'timestamp with time zone' : 'datetime',
  precision: 3,
});
const number = (name: string) => ({ name, type: 'integer' });

export class HostTables1800000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const tables = {
      host_order: [key('order_id'), text('tenant_id'), text('title'), number('amount')],
      host_line: [key('line_id'), text('tenant_id'), number('order_id')],
      host_user: [key('user_id'), text('tenant_id'), number('dept_id')],
      host_currency: [{ ...text('code'), isPrimary: true }],
      host_visit: [key('visit_id'), text('tenant_id'), number('dept_id'), time('at')],
    };
    for (const [name, columns] of Object.entries(tables))
      await runner.createTable(new Table({ name, columns }));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of ['host_order', 'host_line', 'host_user', 'host_currency', 'host_visit'])
      await runner.dropTable(name);
  }
}
