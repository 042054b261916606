import { DataScoped, type TenantOwned } from 'tenantry';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('platform_order')
@DataScoped({ dept: 'deptId' })
export class OrderEntity implements TenantOwned {
  @PrimaryGeneratedColumn({ name: 'order_id' })
  orderId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ name: 'dept_id', type: 'bigint', transformer: { to: (id: number) => id, from: Number } })
  deptId!: number;

  @Column({ type: 'varchar', length: 64 })
  title!: string;

  @Column({ type: 'integer' })
  amount!: number;

  @Column({ type: 'varchar', length: 10 })
  state!: 'open' | 'held';
}
