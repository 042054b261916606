import { Column, Entity, PrimaryColumn } from 'typeorm';
import { id } from '../database/columns';

/** One row per worker number of a snowflake id: up to which millisecond its ids have been given away. */
@Entity('tenantry_id_block')
export class IdBlockEntity {
  @PrimaryColumn({ type: 'integer' })
  worker!: number;

  /** Milliseconds since 1970. */
  @Column({ name: 'reserved_until', type: 'bigint', transformer: id })
  reservedUntil!: number;
}
