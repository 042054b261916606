import { Injectable } from '@nestjs/common';
import { In, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { accountHash, FailedSignInEntity, SessionEntity, AccountEntity } from '../../tenant/account.entity';
import { AuditStamp } from '../../database/audited';
import { contains } from '../../database/contains';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { UnitOfWork } from '../../database/unit-of-work';
import { DeptEntity } from '../../dept/dept.entity';
import { fillPage, type Page } from '../../web/page';
import type { RequestContext } from '../../tenancy/request-context';
import type { Key } from '../../database/key-range';
import { TenantBound } from '../../tenancy/tenant-bound';
import { TenantEntity } from '../../tenant/tenant.entity';
import { raiseTreeVersion } from '../../tenancy/tree-version';
import { Clock } from '../../time/clock';
import { LockedAccounts } from './locked-accounts';

/** Which accounts are looked for; what is absent does not matter. */
export interface AccountCriteria {
  readonly deptId?: number;
  /** A part of the user name, to the byte. */
  readonly username?: string;
  readonly status?: string;
}

const LIVE = { delFlag: '0' } as const;
const ORDER = ['userId'] as const;

/** Accounts as one tenant reads them. */
export interface AccountReader {
  find(userId: number): Promise<AccountEntity | null>;
  /** A part of the accounts that match, in the order of ids. */
  findPage(criteria: AccountCriteria, after: Key | null, limit: number): Promise<Page<AccountEntity>>;
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
      find: (userId) => read((accounts) => accounts.findOne({ userId, ...LIVE })),
      findPage: (criteria, start, limit) => {
        const where = criteria.deptId === undefined ? LIVE : { ...LIVE, deptId: criteria.deptId };
        const rows = {
          at: (keys: readonly Key[]) =>
            read((accounts) =>
              accounts.find({ ...matching(criteria), userId: In(keys.map(([userId]) => Number(userId))) }),
            ),
          idOf: ({ userId }: AccountEntity) => userId,
        };
        return fillPage(
          (after, count) => read((accounts) => accounts.keys({ where, order: ORDER, after, limit: count })),
          rows,
          start,
          limit,
        );
      },
    };
  }

  /** The account that the same request made before. */
  recall(once: IdempotentRequest): Promise<number | undefined> {
    return this.#unitOfWork.recall<number>(once);
  }

  /** Runs `work` while neither the accounts nor the departments of this tenant change. */
  transaction<T>(
    ctx: RequestContext,
    work: (accounts: LockedAccounts) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    return this.#unitOfWork.run(
      ctx.tenantId,
      (manager) => raiseTreeVersion(manager, ctx.tenantId, ctx.callerTenantId),
      (manager) => work(this.#locked(ctx, manager)),
      once,
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
      async (username) => {
        await manager.delete(FailedSignInEntity, { accountHash: accountHash(ctx.tenantId, username) });
      },
    );
  }
}

function matching({ deptId, username, status }: AccountCriteria): FindOptionsWhere<AccountEntity> {
  return {
    ...LIVE,
    ...(deptId !== undefined && { deptId }),
    ...(status !== undefined && { status }),
    ...(username !== undefined && { username: contains(username) }),
  };
}
