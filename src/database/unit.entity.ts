import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii } from './columns';

/**
 * One row per committed unit of work, written in its own transaction. When the answer to a COMMIT is lost,
 * the row tells whether it happened. Rows older than a day are removed.
 */
@Entity('tenantry_unit')
export class UnitEntity {
  @PrimaryColumn({ name: 'unit_id', type: 'varchar', length: 36, ...ascii })
  unitId!: string;

  @Index('ix_unit_created')
  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
