import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, id } from '../database/columns';
import type { TenantOwned } from '../tenancy/tenant-owned';

/**
 * Every ending of every live department's name, so that "contains" is a range of an index: a name contains a text
 * exactly when one of its endings begins with it.
 */
@Entity('tenantry_dept_name')
@Index('ix_dept_name_suffix', ['tenantId', 'suffix', 'deptId'])
export class DeptNameEntity implements TenantOwned {
  @PrimaryColumn({ name: 'dept_id', type: 'bigint', transformer: id })
  deptId!: number;

  /** Where in the name the ending begins, from 1. */
  @PrimaryColumn({ type: 'integer' })
  position!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;

  /** Compared by its bytes: no collation, and no padding with spaces. */
  @Column({ type: 'varbinary', length: 256 })
  suffix!: string;
}
