import {
  AfterLoad,
  BeforeInsert,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
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

  @OneToMany(() => LineEntity, ({ order }) => order)
  lines?: LineEntity[];
}

@Entity('host_line')
export class LineEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'line_id' })
  lineId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ name: 'order_id', type: 'integer' })
  orderId!: number;

  @ManyToOne(() => OrderEntity, ({ lines }) => lines, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'order_id' })
  order?: OrderEntity;
}

/** What entities of hosts have beside columns: hooks, a date of deletion, an eager relation, a default of the class. */
@Entity('host_contract')
export class ContractEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'contract_id' })
  contractId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ type: 'varchar', length: 64 })
  title!: string;

  @Column({ type: 'varchar', length: 64 })
  status = 'new';

  @Column({ name: 'hooks_run', type: 'varchar', length: 64 })
  hooksRun!: string;

  @Column({ name: 'order_id', type: 'integer', nullable: true })
  orderId!: number | null;

  @ManyToOne(() => OrderEntity, { eager: true, createForeignKeyConstraints: false })
  @JoinColumn({ name: 'order_id' })
  order?: OrderEntity | null;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;

  loads = 0;

  @BeforeInsert()
  beforeInsert(): void {
    this.hooksRun = `insert ${this.title}`;
    // As hosts do that find the tenant elsewhere.
    this.tenantId = '000000';
  }

  @BeforeUpdate()
  beforeUpdate(): void {
    this.hooksRun = `update ${this.title}`;
    this.tenantId = '000000';
  }

  @AfterLoad()
  afterLoad(): void {
    this.loads += 1;
  }
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

export const hostEntities = [
  OrderEntity,
  LineEntity,
  ContractEntity,
  HostUserEntity,
  CurrencyEntity,
  VisitEntity,
];

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
      host_contract: [
        key('contract_id'),
        ...['tenant_id', 'title', 'status', 'hooks_run'].map(text),
        { ...number('order_id'), isNullable: true },
        { name: 'deleted_at', type: onPostgres ? 'timestamp' : 'datetime', isNullable: true },
      ],
      host_user: [key('user_id'), text('tenant_id'), number('dept_id')],
      host_currency: [{ ...text('code'), isPrimary: true }],
      host_visit: [key('visit_id'), text('tenant_id'), number('dept_id'), time('at')],
    };
    for (const [name, columns] of Object.entries(tables))
      await runner.createTable(new Table({ name, columns }));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of [
      'host_order',
      'host_line',
      'host_contract',
      'host_user',
      'host_currency',
      'host_visit',
    ])
      await runner.dropTable(name);
  }
}
