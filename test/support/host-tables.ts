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
import { DataScoped, TenantryDept, TenantryTenant, type TenantOwned } from '../../src/index';
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

/** Its rows are limited by the data scope of the caller; texts say who owns them. */
@Entity('host_task')
@DataScoped({ dept: 'deptId', owner: 'createdBy', ownerIs: 'username' })
export class TaskEntity implements TenantOwned {
  /** What a hook says of new rows and of changes, as that of a host that finds the caller elsewhere. */
  static saidByHook: Partial<Pick<TaskEntity, 'deptId' | 'createdBy'>> = {};

  @PrimaryGeneratedColumn({ name: 'task_id' })
  taskId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ name: 'dept_id', type: 'integer', nullable: true })
  deptId!: number | null;

  @Column({ name: 'created_by', type: 'varchar', length: 64, nullable: true })
  createdBy!: string | null;

  @Column({ type: 'varchar', length: 64 })
  title!: string;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;

  @OneToMany(() => NoteEntity, ({ task }) => task)
  notes?: NoteEntity[];

  @BeforeInsert()
  @BeforeUpdate()
  before(): void {
    Object.assign(this, TaskEntity.saidByHook);
  }
}

/** As a task, but numbers say who owns it, and its department is a relation. */
@Entity('host_note')
@DataScoped({ dept: 'deptId', owner: 'ownerNo' })
export class NoteEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'note_id' })
  noteId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @ManyToOne(() => TenantryDept, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'dept_id' })
  dept?: TenantryDept;

  @Column({ name: 'dept_id', type: 'integer', nullable: true })
  deptId!: number | null;

  @Column({
    ...{ name: 'owner_no', type: 'integer', nullable: true },
    // In the entity, the numbers of people begin with a letter.
    transformer: { to: (no: string) => no && Number(no.slice(1)), from: (no: number) => no && `p${no}` },
  })
  ownerNo!: string | null;

  @Column({ name: 'task_id', type: 'integer', nullable: true })
  taskId!: number | null;

  @ManyToOne(() => TaskEntity, ({ notes }) => notes, { eager: true, createForeignKeyConstraints: false })
  @JoinColumn({ name: 'task_id' })
  task?: TaskEntity | null;
}

export const hostEntities = [
  OrderEntity,
  LineEntity,
  ContractEntity,
  HostUserEntity,
  CurrencyEntity,
  VisitEntity,
  TaskEntity,
  NoteEntity,
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
const orNone = <C extends object>(column: C) => ({ ...column, isNullable: true });

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
      host_task: [
        ...[key('task_id'), text('tenant_id'), text('title')],
        ...[number('dept_id'), text('created_by')].map(orNone),
        { name: 'deleted_at', type: onPostgres ? 'timestamp' : 'datetime', isNullable: true },
      ],
      host_note: [
        ...[key('note_id'), text('tenant_id')],
        ...['dept_id', 'owner_no', 'task_id'].map((name) => orNone(number(name))),
      ],
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
      'host_task',
      'host_note',
    ])
      await runner.dropTable(name);
  }
}
