import { Injectable } from '@nestjs/common';
import { SettingEntity } from './setting.entity';
import { UnitOfWork } from './unit-of-work';

/** What all processes on this database must agree on. It belongs to no tenant. */
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
