import { Injectable, Scope, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import * as typeorm from 'typeorm';
import type { DataSource } from 'typeorm';
import { SUPPORTED_TYPES } from './database/dialects';
import { TenantryDataSource } from './database/tenantry.data-source';
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
      (this.#hasRoutes ? this.#routesProblem() : null) ??
      dataSourceProblem(this.dataSource) ??
      (await missingTable(this.dataSource));
    if (problem !== null) throw new Error(`Tenantry cannot start: ${problem}`);
  }

  get #hasRoutes(): boolean {
    return [...this.modules.values()].some(({ metatype }) => routeModules.includes(metatype));
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
  const { type, entityPrefix, synchronize } = options;
  if (type === 'better-sqlite3') {
    if (!('writers' in driver)) return 'on SQLite, make the DataSource with SqliteDataSource of tenantry.';
    // Only 0.3 has it. npm cannot tell: on the other databases 0.3 is supported.
    if ('createConnection' in typeorm) return 'on SQLite it needs typeorm 1.1 or later.';
  } else if (!SUPPORTED_TYPES.includes(type)) {
    return `it works on MySQL, MariaDB, PostgreSQL and SQLite, not on ${type}.`;
  }
  if (entityPrefix !== undefined && entityPrefix !== '')
    return `the DataSource has the entityPrefix ${entityPrefix}, but its tables keep their names.`;
  if (synchronize)
    return 'the DataSource has the option synchronize, which would change its tables; run its migrations instead.';
  const missing = entities.find((entity) => !dataSource.hasMetadata(entity));
  return missing ? `add the entities of tenantry to the DataSource: ${missing.name} is missing.` : null;
}

async function missingTable(dataSource: DataSource): Promise<string | null> {
  const runner = dataSource.createQueryRunner();
  try {
    for (const entity of entities) {
      const { tableName } = dataSource.getMetadata(entity);
      if (!(await runner.hasTable(tableName)))
        return `run the migrations of tenantry first: the table ${tableName} is missing.`;
    }
    return null;
  } finally {
    await runner.release();
  }
}
