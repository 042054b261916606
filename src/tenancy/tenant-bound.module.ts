import { Inject, Module, type DynamicModule, type Type } from '@nestjs/common';
import { TenantryDataSource } from '../database/tenantry.data-source';
import { UnitOfWork } from '../database/unit-of-work';
import { TenantBoundRepository } from './tenant-bound.repository';
import type { TenantOwned } from './tenant-owned';

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
  static of(entities: readonly Type<TenantOwned>[]): DynamicModule {
    const providers = entities.map((entity) => ({
      provide: tenantBoundToken(entity),
      useFactory: (unitOfWork: UnitOfWork, dataSource: TenantryDataSource) =>
        new TenantBoundRepository(unitOfWork, dataSource, entity),
      inject: [UnitOfWork, TenantryDataSource],
    }));
    return { module: TenantBoundModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}
