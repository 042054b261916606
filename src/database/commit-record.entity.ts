import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, text } from './columns';

/**
 * One row per committed unit of work, written in its own transaction. When the answer to a COMMIT is lost,
 * the row tells whether it happened. A client's Idempotency-Key names the row itself; it then also holds what
 * was asked and what was answered. Rows older than a day are removed.
 */
@Entity('tenantry_unit')
export class CommitRecord {
  @PrimaryColumn({ name: 'unit_id', type: 'varchar', length: 36, ...ascii })
  unitId!: string;

  @Index('ix_unit_created')
  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** Of the request, when a client's key names this row. */
  @Column({ name: 'body_hash', type: 'varchar', length: 64, nullable: true, ...ascii })
  bodyHash!: string | null;

  /** What the unit gave, as JSON of up to 64 KB, when a client's key names this row. */
  @Column({ type: 'mediumtext', nullable: true, ...text })
  result!: string | null;
}
