import { Injectable } from '@nestjs/common';
import { MoreThan, type EntityManager } from 'typeorm';
import { SessionEntity } from '../auth/session.entity';
import { AuditStamp } from '../database/audited';
import { UnitOfWork } from '../database/unit-of-work';
import { DeptEntity } from '../dept/dept.entity';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import { TenantEntity } from '../tenant/tenant.entity';
import { raiseTreeVersion } from '../tenant/tree-version';
import { Clock } from '../time/clock';
import { AccountEntity } from './account.entity';
import { LockedAccounts } from './locked-accounts';

/** Accounts as one tenant reads them. */
export interface AccountReader {
  find(userId: number): Promise<AccountEntity | null>;
  /** Up to `limit` accounts after this id, in the order of ids. */
  findAfter(userId: number, limit: number): Promise<AccountEntity[]>;
}

/** The door to the accounts: reading in a tenant, and writing in a unit of work that holds it. */
@Injectable()
export class UserRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): AccountReader {
    const read = <T>(work: (accounts: TenantBound<AccountEntity>) => Promise<T>) =>
      this.#unitOfWork.withoutTransaction((manager) => work(new TenantBound(manager, AccountEntity, ctx)));
    return {
      find: (userId) => read((accounts) => accounts.findOne({ userId, delFlag: '0' })),
      findAfter: (userId, limit) =>
        read((accounts) =>
          accounts.find({ userId: MoreThan(userId), delFlag: '0' }, { order: 'userId', limit }),
        ),
    };
  }

  /** Runs `work` while neither the accounts nor the departments of this tenant change. */
  transaction<T>(ctx: RequestContext, work: (accounts: LockedAccounts) => Promise<T>): Promise<T> {
    return this.#unitOfWork.run(
      ctx.tenantId,
      (manager) => raiseTreeVersion(manager, ctx.tenantId),
      (manager) => work(this.#locked(ctx, manager)),
    );
  }

  #locked(ctx: RequestContext, manager: EntityManager): LockedAccounts {
    return new LockedAccounts(
      new TenantBound(manager, AccountEntity, ctx),
      new TenantBound(manager, DeptEntity, ctx),
      new TenantBound(manager, SessionEntity, ctx),
      new AuditStamp(ctx.username, () => this.clock.now()),
      async () => {
        const select = { id: true, accountCount: true } as const;
        const { tenantId } = ctx;
        return (await manager.findOneOrFail(TenantEntity, { select, where: { tenantId } })).accountCount;
      },
    );
  }
}
