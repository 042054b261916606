import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A person who works for a customer of the platform, or for the platform itself. */
@Entity('platform_staff')
export class StaffEntity {
  @PrimaryGeneratedColumn({ name: 'staff_id' })
  staffId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ type: 'varchar', length: 128 })
  email!: string;

  @Column({ name: 'key_hash', type: 'varchar', length: 64 })
  keyHash!: string;

  @Column({ type: 'varchar', length: 20 })
  role!: 'superadmin' | 'tenant_admin' | 'member';

  @Column({
    name: 'dept_id',
    type: 'bigint',
    nullable: true,
    transformer: { to: (id: number | null) => id, from: toNumber },
  })
  deptId!: number | null;
}

function toNumber(id: string | number | null): number | null {
  return id === null ? null : Number(id);
}
