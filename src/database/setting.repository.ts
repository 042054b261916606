import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii } from './columns';
import { UnitOfWork } from './unit-of-work';

/** What all processes on this database must agree on. */
@Entity('tenantry_setting')
export class SettingEntity {
  @PrimaryColumn({ type: 'varchar', length: 64, ...ascii })
  name!: string;

  @Column({ type: 'varchar', length: 255, ...ascii })
  value!: string;
}

@Injectable()
export class SettingRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  async get(name: string): Promise<string> {
    const setting = await this.#unitOfWork.withoutTransaction((manager) =>
      manager.findOneByOrFail(SettingEntity, { name }),
    );
    return setting.value;
  }
}
