import { Injectable } from '@nestjs/common';
import { ScopedTable } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { TenantEntity } from './tenant.entity';
import type { TenantFacts } from './tenant-state';

const FACTS = ['status', 'delFlag', 'startTime', 'endTime'] as const;

/** What the cache of tenant states must know of any tenant, before there is a context to look from. */
@Injectable()
export class TenantFactsRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  find(tenantId: string): Promise<TenantFacts | null> {
    return this.#unitOfWork.withoutTransaction(async (manager) => {
      const [facts] = await new ScopedTable(manager, TenantEntity).pick({ tenantId }, FACTS);
      return facts ?? null;
    });
  }
}
