import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../database/unit-of-work';
import { TenantEntity } from './tenant.entity';
import type { TenantFacts } from './tenant-state';

/** What the cache of tenant states must know of any tenant, before there is a context to look from. */
@Injectable()
export class TenantFactsRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  find(tenantId: string): Promise<TenantFacts | null> {
    return this.#unitOfWork.withoutTransaction((manager) =>
      manager.findOne(TenantEntity, {
        select: { id: true, status: true, delFlag: true, startTime: true, endTime: true },
        where: { tenantId },
      }),
    );
  }
}
