import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import type { IdempotentRequest } from './database/idempotent-request';
import type { OpenUnit } from './database/open-unit';
import { UnitOfWork } from './database/unit-of-work';
import { RequestContext } from './tenancy/request-context';
import { treeLock } from './journal/tree-lock';
import { rowsIn, type OtherRows } from './resource/tenant-bound.repository';
import { inTransaction } from './resources';

/** A service whose methods need no context any more. */
export type InUnit<S> = {
  readonly [K in keyof S]: S[K] extends (ctx: RequestContext, ...args: infer A) => infer R
    ? (...args: A) => R
    : never;
};

type ServicesInUnit = {
  readonly [K in keyof typeof inTransaction]: InUnit<InstanceType<(typeof inTransaction)[K]>>;
};

/** What happens together, or not at all: `depts`, `deptAdoption`, `dataScopes`, `tenants`, `quotas`. It can be used until the work that it was given to is done. */
export interface TenantryUnit extends ServicesInUnit {
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
    private readonly moduleRef: ModuleRef,
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
        ...this.#services(within),
        rows: (entity) => rowsIn(unit, entity, ctx),
        manager: unit.manager,
      });
    };
    return this.#unitOfWork.runForHost(ctx.tenantId, treeLock(ctx), run, once);
  }

  #services(ctx: RequestContext): ServicesInUnit {
    const offered = Object.entries<Type<object>>(inTransaction).map(([name, service]) => [
      name,
      withContext(this.moduleRef.get(service, { strict: false }), ctx),
    ]);
    return Object.fromEntries(offered) as ServicesInUnit;
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
