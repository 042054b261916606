import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii } from './columns';

/** What all processes on this database must agree on. */
@Entity('tenantry_setting')
export class SettingEntity {
  @PrimaryColumn({ type: 'varchar', length: 64, ...ascii })
  name!: string;

  @Column({ type: 'varchar', length: 255, ...ascii })
  value!: string;
}
