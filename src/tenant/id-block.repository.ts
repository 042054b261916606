import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../database/unit-of-work';
import { IdBlockEntity } from './id-block.entity';

/** Who has which stretch of snowflake time. It belongs to no tenant. */
@Injectable()
export class IdBlockRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  async findReservedUntil(worker: number): Promise<number> {
    const block = await this.#unitOfWork.withoutTransaction((manager) =>
      manager.findOneByOrFail(IdBlockEntity, { worker }),
    );
    return block.reservedUntil;
  }

  /** Moves the end of what is given away, unless somebody else has moved it meanwhile; tells whether it did. */
  extend(worker: number, from: number, until: number): Promise<boolean> {
    return this.#unitOfWork.withoutTransaction(async (manager) => {
      const moved = await manager.update(
        IdBlockEntity,
        { worker, reservedUntil: from },
        { reservedUntil: until },
      );
      return moved.affected === 1;
    });
  }
}
