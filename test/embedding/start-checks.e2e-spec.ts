import {
  Injectable,
  Module,
  Scope,
  type CallHandler,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type NestInterceptor,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { Column, DataSource, Entity, PrimaryColumn, type DataSourceOptions } from 'typeorm';
import {
  DataScoped,
  DeptService,
  Doctor,
  entities,
  TenantryModule,
  type DataScopedBy,
  type TenantryOptions,
} from '../../src/index';
import { dataSourceProblem } from '../../src/start-checks';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { HeaderResolver, hostDataSource, system } from '../support/host';
import { runCli } from '../support/run-cli';
import { emptyDatabase } from '../support/test-database';

@Module({})
class HostModule {}

const principalResolver = new HeaderResolver();
const right = { principalResolver, userDirectory: 'none' } as const;

/** As that of @nestjs/cache-manager: its key is the address. */
@Injectable()
class CacheInterceptor implements NestInterceptor {
  trackBy(context: ExecutionContext): string | undefined {
    return this.isRequestCacheable() ? context.switchToHttp().getRequest<Request>().url : undefined;
  }

  isRequestCacheable(): boolean {
    return true;
  }

  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

class GetCache extends CacheInterceptor {
  override isRequestCacheable(): boolean {
    return false;
  }
}

@Injectable({ scope: Scope.REQUEST })
class CacheOfRequest extends CacheInterceptor {}

class CacheByCaller extends CacheInterceptor {
  override trackBy(): string {
    return 'with the caller';
  }
}

/** Says to Nest that it is the adapter of Fastify. */
class OtherAdapter extends ExpressAdapter {
  override getType(): string {
    return 'fastify';
  }
}

@Injectable({ scope: Scope.REQUEST })
class OfRequest {}

@Injectable({ scope: Scope.REQUEST })
class GuardOfRequest implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Injectable()
class GuardWithRequest implements CanActivate {
  constructor(readonly needed: OfRequest) {}

  canActivate(): boolean {
    return true;
  }
}

@Module({ providers: [OfRequest, GuardOfRequest], exports: [OfRequest, GuardOfRequest] })
class RequestModule {}

describe('a host that cannot work with the library', () => {
  let database: ThrowAwayDatabase;
  const opened: DataSource[] = [];

  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) if (each.isInitialized) await each.destroy();
    await database.drop();
  });

  interface Parts {
    readonly options?: Partial<TenantryOptions>;
    readonly dataSource?: DataSource;
    readonly adapter?: AbstractHttpAdapter;
    readonly isMigrated?: boolean;
    readonly tenantry?: DynamicModule;
    readonly providers?: Provider[];
    readonly interceptors?: NestInterceptor[];
  }

  /** What the start ends with. */
  async function start({
    options = right,
    dataSource = hostDataSource(database.url),
    adapter = new ExpressAdapter(),
    isMigrated = true,
    tenantry = TenantryModule.forRoot(options as TenantryOptions),
    providers = [],
    interceptors = [],
  }: Parts = {}): Promise<string> {
    await dataSource.initialize();
    opened.push(dataSource);
    if (isMigrated) await dataSource.runMigrations();
    const typeorm = TypeOrmModule.forRootAsync({
      useFactory: () => dataSource.options,
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    const app = await NestFactory.create(
      { module: HostModule, imports: [typeorm, tenantry], providers },
      adapter,
      { logger: false, abortOnError: false },
    );
    app.useGlobalInterceptors(...interceptors);
    try {
      await app.init();
      return 'it starts';
    } catch (error) {
      return (error as Error).message;
    } finally {
      await app.close().catch(() => undefined);
    }
  }

  it('a host without what it needs is told so in one sentence when it starts', async () => {
    expect(await start()).toBe('it starts');
    expect(await start({ options: {} })).toBe(
      'Tenantry cannot start: give TenantryModule a principalResolver, which says who is calling.',
    );
    const noDirectory =
      "Tenantry cannot start: give TenantryModule a userDirectory, which says which departments have users, or 'none' if they never have any.";
    for (const userDirectory of [undefined, null, 'nobody', {}])
      expect(await start({ options: { principalResolver, userDirectory } as object })).toBe(noDirectory);
    const careless = { principalResolver } as unknown as TenantryOptions;
    const tenantry = TenantryModule.forRoot({ ...careless, controllers: false });
    expect(await start({ tenantry })).toBe(noDirectory);
    expect(await start({ adapter: new OtherAdapter() })).toMatch(
      /routes need the Express adapter, not fastify/,
    );
  });

  it('a host is told which option does not go', async () => {
    const told = (wrong: object) => start({ options: { ...right, ...wrong } });
    const days = 'must be a whole number of days from 0 (all are kept) to 36500, not';
    // In other systems this keeps all; here it would remove all.
    expect(await told({ journalKeepDays: -1 })).toBe(`Tenantry cannot start: journalKeepDays ${days} -1.`);
    expect(await told({ quotaKeepDays: NaN })).toBe(`Tenantry cannot start: quotaKeepDays ${days} NaN.`);
    expect(await told({ language: 'de' })).toMatch(/language must be one of zh, en, not de/);
    expect(await told({ httpStatusMode: 'always-201' })).toMatch(
      /one of match-code, always-200, not always-201/,
    );
    expect(await told({ strictInput: 'off' })).toMatch(/strictInput must be true or false, not off/);
    expect(await told({ authorize: true })).toMatch(/authorize must be a function/);
    expect(await told({ envelope: 'rest' })).toMatch(/envelope must be a function/);
    expect(await told({ guards: [undefined] })).toMatch(/guards\[0\] is not a guard/);
  });

  it('a host is told that a cache for all routes must know the caller', async () => {
    const told = (name: string) =>
      `Tenantry cannot start: ${name} stands before all routes and would give one caller the answers of another; give it a trackBy with the caller in its key, or use it on single controllers.`;
    const registered = (useClass: Type) => ({ providers: [{ provide: APP_INTERCEPTOR, useClass }] });
    expect(await start(registered(CacheInterceptor))).toBe(told('CacheInterceptor'));
    expect(await start(registered(GetCache))).toBe(told('GetCache'));
    expect(await start(registered(CacheOfRequest))).toBe(told('CacheOfRequest'));
    expect(await start({ interceptors: [new CacheInterceptor()] })).toBe(told('CacheInterceptor'));
    expect(await start({ interceptors: [new CacheByCaller()] })).toBe('it starts');
    expect(await start(registered(CacheByCaller))).toBe('it starts');
    const tenantry = TenantryModule.forRoot({ ...right, controllers: false });
    expect(await start({ tenantry, ...registered(CacheInterceptor) })).toBe('it starts');
  });

  it('a host is told that guards and options cannot depend on a request', async () => {
    for (const guard of [GuardOfRequest, GuardWithRequest]) {
      const options = { ...right, guards: [guard] };
      const tenantry = { ...TenantryModule.forRoot(options), module: TenantryModule };
      tenantry.imports = [...(tenantry.imports ?? []), RequestModule];
      expect(await start({ tenantry })).toBe(
        `Tenantry cannot start: the guard ${guard.name} must not depend on the request's scope.`,
      );
    }
    const tenantry = TenantryModule.forRootAsync({
      imports: [RequestModule],
      inject: [OfRequest],
      useFactory: () => right,
    });
    expect(await start({ tenantry })).toBe(
      'Tenantry cannot start: its options must not depend on a request-scoped provider.',
    );
  });

  it('a host keeps its columns as its database has them, whatever else is opened in the process', async () => {
    const dataSource = hostDataSource(database.url);
    const another = await throwAwayDatabase();
    await another.open();
    expect(await start({ dataSource })).toBe('it starts');
    await another.drop();
  });

  it('a host is told which table is missing', async () => {
    expect(await start({ isMigrated: false })).toMatch(
      /run the migrations .* the table tenantry_\w+ is missing\.$/,
    );
  });

  it('a host is told what is wrong with its DataSource', () => {
    const sound = hostDataSource(database.url);
    const problemOf = (options: Partial<DataSourceOptions>) =>
      dataSourceProblem({
        options: { ...sound.options, ...options } as DataSourceOptions,
        driver: sound.driver,
        hasMetadata: () => true,
      });
    expect(problemOf({})).toBeNull();
    expect(problemOf({ entityPrefix: 'app_' })).toMatch(/entityPrefix app_/);
    expect(problemOf({ synchronize: true })).toBeNull();
    expect(problemOf({ type: 'mssql' })).toMatch(/not on mssql/);
    expect(problemOf({ type: 'postgres' })).toBeNull();
    expect(problemOf({ type: 'mysql', timezone: 'local' })).toBeNull();
    const plain = {
      options: { type: 'better-sqlite3' as const, database: 'x' },
      driver: {} as DataSource['driver'],
    };
    expect(dataSourceProblem({ ...plain, hasMetadata: () => true })).toMatch(/SqliteDataSource/);
  });

  it('a host is told which entity is missing', async () => {
    const dataSource = hostDataSource(database.url);
    const few = (dataSource.options.entities as unknown[]).filter((entity) => entity !== entities.at(-1));
    Object.assign(dataSource.options, { entities: few });
    expect(await start({ dataSource })).toContain(`${entities.at(-1)!.name} is missing`);
  });

  it('a host is told which column its @DataScoped names in vain', async () => {
    const told = async (by: DataScopedBy) => {
      @Entity('host_order')
      @DataScoped(by)
      class Parcel {
        @PrimaryColumn({ name: 'order_id', type: 'integer' })
        id!: number;

        @Column({ name: 'tenant_id', type: 'varchar' })
        tenantId!: string;

        @Column({ type: 'integer' })
        amount!: number;

        @Column({ type: 'varchar' })
        title!: string;
      }
      return start({ dataSource: hostDataSource(database.url, { entities: [...entities, Parcel] }) });
    };
    expect(await told({ dept: 'amount', owner: 'title' })).toBe('it starts');
    expect(await told({ dept: 'deptId' })).toBe(
      'Tenantry cannot start: @DataScoped of Parcel needs a column for deptId, and there is none.',
    );
    expect(await told({ dept: 'amount', owner: 'createdBy' })).toContain('needs a column for createdBy');
    expect(await told({ dept: 'title' })).toBe(
      'Tenantry cannot start: @DataScoped of Parcel needs the ids of departments in title, as numbers.',
    );
    expect(await told({ dept: 'amount', ownerIs: 'email' as 'username' })).toContain(
      "'subject' or 'username' as ownerIs, not email",
    );
  });

  it('a host is examined by the doctor, as a service and from the command line, whatever its migrations table is called', async () => {
    const dataSource = hostDataSource(database.url);
    Object.assign(dataSource.options, { migrationsTableName: 'schema_history' });
    await dataSource.initialize();
    opened.push(dataSource);
    await dataSource.runMigrations();
    const typeorm = TypeOrmModule.forRootAsync({
      useFactory: () => dataSource.options,
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    const imports = [typeorm, TenantryModule.forRoot(right)];
    const context = await NestFactory.createApplicationContext(
      { module: HostModule, imports },
      { logger: false },
    );
    const deptId = await context.get(DeptService).create(system(), { deptName: 'a' });
    expect((await context.get(Doctor).examine()).findings).toEqual([]);
    await dataSource.query(`UPDATE tenantry_dept SET ancestors = '0,7' WHERE dept_id = ${deptId}`);
    expect((await context.get(Doctor).examine()).findings).not.toEqual([]);
    const env = { NODE_ENV: 'production', JWT_SECRET: '' };
    const broken = await runCli(database, ['doctor'], '', env);
    expect([broken.code, broken.out]).toEqual([1, expect.stringContaining('its path should be 0') as string]);
    expect((await runCli(database, ['doctor', '--repair'], '', env)).code).toBe(0);
    const refused = await runCli(database, ['user:add', '--user', 'lina']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('users of its own') as string]);
    expect((await context.get(Doctor).examine()).findings).toEqual([]);
    const runner = dataSource.createQueryRunner();
    expect(await runner.hasTable('tenantry_migrations')).toBe(false);
    await runner.release();
    await context.close();
  });
});
