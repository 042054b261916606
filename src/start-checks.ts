import { Injectable, Scope, type OnModuleInit, type Type } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer, type NestContainer } from '@nestjs/core';
import * as typeorm from 'typeorm';
import type { DataSource } from 'typeorm';
import { dataScopeProblem } from './resource/row-scope.conditions';
import { SUPPORTED_TYPES } from './database/dialects';
import { TenantryDataSource, withQueryRunner } from './database/tenantry.data-source';
import { UnitOfWork } from './database/unit-of-work';
import { entities, routeModules } from './resources';
import { NobodyResolver, PrincipalResolver } from './tenancy/principal-resolver';

/** Stops the start of a host whose set-up cannot work, with one sentence, instead of a 500 for every request. */
@Injectable()
export class StartChecks implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly host: HttpAdapterHost,
    private readonly dataSource: TenantryDataSource,
    private readonly principals: PrincipalResolver,
  ) {}

  async onModuleInit(): Promise<void> {
    const problem =
      (hasRoutes(this.modules) ? this.#routesProblem() : null) ??
      dataSourceProblem(this.dataSource) ??
      dataScopeProblem(this.dataSource) ??
      (await missingTable(this.dataSource));
    if (problem !== null) throw new Error(`Tenantry cannot start: ${problem}`);
  }

  #routesProblem(): string | null {
    if (this.principals instanceof NobodyResolver)
      return 'give TenantryModule a principalResolver, which says who is calling.';
    // An application context has no adapter, and no routes.
    const adapter = (this.host as Partial<HttpAdapterHost>).httpAdapter?.getType();
    return adapter === undefined || adapter === 'express'
      ? null
      : `its routes need the Express adapter, not ${adapter}.`;
  }
}

function hasRoutes(modules: ModulesContainer): boolean {
  return [...modules.values()].some(({ metatype }) => routeModules.includes(metatype));
}

/** Stops the start of a host that keeps answers of all routes without their caller: it would show a tenant to another. */
@Injectable()
export class CacheCheck implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
  ) {}

  onModuleInit(): void {
    const cache = hasRoutes(this.modules) ? this.#globalInterceptors().find(isCacheWithoutCaller) : undefined;
    if (cache)
      throw new Error(
        `Tenantry cannot start: ${cache.constructor.name} stands before all routes and would give one caller the answers of ` +
          'another; give it a trackBy with the caller in its key, or use it on single controllers.',
      );
  }

  /** Nest's own configuration alone knows those of `useGlobalInterceptors`, and nothing that is injected leads to it. */
  #globalInterceptors(): object[] {
    const { applicationConfig } = Reflect.get(this.moduleRef, 'container') as NestContainer;
    const ofRequests = applicationConfig?.getGlobalRequestInterceptors() ?? [];
    return [
      ...(applicationConfig?.getGlobalInterceptors() ?? []),
      ...ofRequests.map(({ metatype }) => (metatype as Type).prototype as object),
    ];
  }
}

/** Of @nestjs/cache-manager: what its `trackBy` gives as the key of an answer is the address. A subclass may have another. */
function isCacheWithoutCaller(interceptor: object): boolean {
  let cache: object | undefined;
  for (let each: object | null = interceptor; each; each = Object.getPrototypeOf(each) as object | null)
    if (Object.hasOwn(each, 'trackBy') && Object.hasOwn(each, 'isRequestCacheable')) cache = each;
  return cache !== undefined && Reflect.get(cache, 'trackBy') === Reflect.get(interceptor, 'trackBy');
}

/** Apart from the others: what is made from request-scoped options is not there at the start, and checks nothing. */
@Injectable()
export class ScopeCheck implements OnModuleInit {
  constructor(private readonly moduleRef: ModuleRef) {}

  onModuleInit(): void {
    if (this.moduleRef.introspect(UnitOfWork).scope === Scope.REQUEST)
      throw new Error('Tenantry cannot start: its options must not depend on a request-scoped provider.');
  }
}

/** What of a DataSource does not go together with the library, as far as its options tell. */
export function dataSourceProblem(
  dataSource: Pick<DataSource, 'options' | 'driver' | 'hasMetadata'>,
): string | null {
  const { options, driver } = dataSource;
  const { type, entityPrefix } = options;
  if (type === 'better-sqlite3') {
    if (!('writers' in driver)) return 'on SQLite, make the DataSource with SqliteDataSource of tenantry.';
    // Only 0.3 has it. npm cannot tell: on the other databases 0.3 is supported.
    if ('createConnection' in typeorm) return 'on SQLite it needs typeorm 1.1 or later.';
  } else if (!SUPPORTED_TYPES.includes(type)) {
    return `it works on MySQL, MariaDB, PostgreSQL and SQLite, not on ${type}.`;
  }
  if (entityPrefix !== undefined && entityPrefix !== '')
    return `the DataSource has the entityPrefix ${entityPrefix}, but its tables keep their names.`;
  const missing = entities.find((entity) => !dataSource.hasMetadata(entity));
  return missing ? `add the entities of tenantry to the DataSource: ${missing.name} is missing.` : null;
}

function missingTable(dataSource: DataSource): Promise<string | null> {
  return withQueryRunner(dataSource, async (runner) => {
    for (const entity of entities) {
      const { tableName } = dataSource.getMetadata(entity);
      if (!(await runner.hasTable(tableName)))
        return `run the migrations of tenantry first: the table ${tableName} is missing.`;
    }
    return null;
  });
}
