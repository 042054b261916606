import { Inject, Module, type DynamicModule, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import type { IdempotentRequest } from '../database/idempotent-request';
import { TenantryDataSource } from '../database/tenantry.data-source';
import type { OpenUnit } from '../database/open-unit';
import { UnitOfWork } from '../database/unit-of-work';
import { RequestContext } from '../tenancy/request-context';
import { tenantCheck, treeLock } from '../journal/tree-lock';
import { HostTable } from './host-table';
import type { TenantOwned } from '../tenancy/tenant-bound';
import { refuseUnowned, TenantRows } from './tenant-rows.repository';
import { dataSourceOf } from '../database/tenantry.data-source';

/** Gives the same tenant's rows in another table, inside the same transaction. */
export type OtherRows = <O extends TenantOwned>(entity: Type<O>) => TenantRows<O>;

/**
 * The door to a host's own table whose rows belong to tenants. There is no way in without a `RequestContext`.
 *
 * A write is replayed after a conflict or a lost connection without being done twice, and a deleted tenant is refused.
 * All writes but an `insert` of `in(ctx)` hold the tenant as departments do: they raise the version of its tree first. So what
 * a work finds out about departments stays true until it is committed. The price: such writes of one tenant, its
 * departments' included, go one after the other; tenants do not wait for each other.
 */
export class TenantBoundRepository<E extends TenantOwned> {
  readonly #unitOfWork: UnitOfWork;
  readonly #dataSource: TenantryDataSource;
  readonly #entity: Type<E>;

  constructor(unitOfWork: UnitOfWork, dataSource: TenantryDataSource, entity: Type<E>) {
    refuseUnowned(dataSource.getMetadata(entity));
    this.#unitOfWork = unitOfWork;
    this.#dataSource = dataSource;
    this.#entity = entity;
  }

  /** The tenant's rows. Every read is a statement of its own, every write a transaction of its own. */
  in(ctx: RequestContext): TenantRows<E> {
    RequestContext.require(ctx);
    const tableOf = (within: OpenUnit | EntityManager) => new HostTable(within, this.#entity, ctx);
    return new TenantRows({
      metadata: this.#dataSource.getMetadata(this.#entity),
      table: tableOf(this.#dataSource.manager),
      read: (work) => this.#unitOfWork.withoutTransaction((manager) => work(tableOf(manager))),
      // A new row waits for no other write. That its department is in the caller's data scope was true when it was looked at; a
      // department that moves after that takes the row with it, as it would had the row been there before.
      insert: (work) => this.#unitOfWork.run(null, tenantCheck(ctx), (unit) => work(tableOf(unit))),
      write: (work) => this.#unitOfWork.run(ctx.tenantId, treeLock(ctx), (unit) => work(tableOf(unit))),
    });
  }

  /**
   * Runs `work` in one transaction while no one else changes or deletes anything of this tenant. It may run again after a conflict, so it
   * must have no effects outside. Inside, use only the rows that it is given: whatever else writes, a service of this
   * library or `in(ctx)`, would wait for this transaction, and fails at once. With `once`
   * an equal request gets the first one's result, which must be JSON of at most 64 KB: what is not (a date, a bigint, a
   * cycle) fails before COMMIT.
   */
  async transaction<T>(
    ctx: RequestContext,
    work: (rows: TenantRows<E>, of: OtherRows) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    RequestContext.require(ctx);
    const run = (unit: OpenUnit): Promise<T> => {
      const rowsOf: OtherRows = (entity) => rowsIn(unit, entity, ctx);
      return work(rowsOf(this.#entity), rowsOf);
    };
    return this.#unitOfWork.runForHost(ctx.tenantId, treeLock(ctx), run, once);
  }
}

/** A tenant's rows in a table of the host, as part of an open unit of work. */
export function rowsIn<O extends TenantOwned>(
  unit: OpenUnit,
  entity: Type<O>,
  ctx: RequestContext,
): TenantRows<O> {
  const { manager } = unit;
  const metadata = dataSourceOf(manager).getMetadata(entity);
  refuseUnowned(metadata);
  const table = new HostTable(unit, entity, ctx);
  const inside = <T>(work: (table: HostTable<O>) => Promise<T>): Promise<T> => unit.call(() => work(table));
  return new TenantRows({ metadata, table, read: inside, insert: inside, write: inside });
}

const tokens = new WeakMap<Type<TenantOwned>, symbol>();

/** The token of an entity's `TenantBoundRepository`. */
export function tenantBoundToken(entity: Type<TenantOwned>): symbol {
  const token = tokens.get(entity) ?? Symbol(`TenantBoundRepository<${entity.name}>`);
  tokens.set(entity, token);
  return token;
}

/** Injects an entity's `TenantBoundRepository`. */
export function InjectTenantBound(entity: Type<TenantOwned>): ParameterDecorator & PropertyDecorator {
  return Inject(tenantBoundToken(entity));
}

/** Tenant-bound repositories of a host's own entities. */
@Module({})
export class TenantBoundModule {
  static of(entities: readonly Type<TenantOwned>[], dataSource?: string): DynamicModule {
    // Only so that a DataSource with `autoLoadEntities` has them: repositories that know no tenant are not handed out.
    TypeOrmModule.forFeature([...entities], dataSource);
    const providers = entities.map((entity) => ({
      provide: tenantBoundToken(entity),
      useFactory: (unitOfWork: UnitOfWork, dataSource: TenantryDataSource) =>
        new TenantBoundRepository(unitOfWork, dataSource, entity),
      inject: [UnitOfWork, TenantryDataSource],
    }));
    return { module: TenantBoundModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}
