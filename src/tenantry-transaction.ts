import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { IdempotentRequest } from './database/idempotent-request';
import type { OpenUnit } from './database/open-unit';
import { UnitOfWork } from './database/unit-of-work';
import { DeptService } from './dept/dept.service';
import { RequestContext } from './tenancy/request-context';
import { treeLock } from './journal/tree-lock';
import { rowsIn, type OtherRows } from './resource/tenant-bound.repository';
import { QuotaService } from './tenant/quota/quota.service';
import { TenantService } from './tenant/tenant.service';

/** A service whose methods need no context any more. */
export type InUnit<S> = {
  readonly [K in keyof S]: S[K] extends (ctx: RequestContext, ...args: infer A) => infer R
    ? (...args: A) => R
    : never;
};

/** What happens together, or not at all. It can be used until the work that it was given to is done. */
export interface TenantryUnit {
  readonly depts: InUnit<DeptService>;
  readonly tenants: InUnit<TenantService>;
  readonly quotas: InUnit<QuotaService>;
  /** The tenant's rows in a table of the host. */
  readonly rows: OtherRows;
  /** For statements of the host; they are part of the transaction. */
  readonly manager: EntityManager;
}

/** Departments, tenants, quotas and rows of the host in one transaction. */
@Injectable()
export class TenantryTransaction {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly depts: DeptService,
    private readonly tenants: TenantService,
    private readonly quotas: QuotaService,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /**
   * Runs `work` in one transaction while nothing else writes to this tenant. It may run again after a conflict, so it must
   * have no effects outside. Events are emitted after COMMIT. With `once` an equal request gets the first one's result,
   * which must be JSON of at most 64 KB.
   */
  async run<T>(
    ctx: RequestContext,
    work: (unit: TenantryUnit) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    RequestContext.require(ctx);
    const run = (unit: OpenUnit): Promise<T> => {
      const within = ctx.inUnit(unit);
      return work({
        depts: withContext(this.depts, within),
        tenants: withContext(this.tenants, within),
        quotas: withContext(this.quotas, within),
        rows: (entity) => rowsIn(unit, entity, ctx),
        manager: unit.manager,
      });
    };
    return this.#unitOfWork.runForHost(ctx.tenantId, treeLock(ctx), run, once);
  }
}

function withContext<S extends object>(service: S, ctx: RequestContext): InUnit<S> {
  const get = (_: S, name: string | symbol): unknown => {
    const method = Reflect.get(service, name) as unknown;
    if (typeof method !== 'function') return undefined;
    return (...args: unknown[]) => method.call(service, ctx, ...args) as unknown;
  };
  return new Proxy(service, { get }) as unknown as InUnit<S>;
}
