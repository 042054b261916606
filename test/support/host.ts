import { Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import {
  entities,
  migrations,
  PrincipalResolver,
  RequestContext,
  SqliteDataSource,
  type Principal,
  type Role,
} from '../../src/index';
import { ApiClient, type Caller, type ThrowAwayDatabase } from '../../src/server/testing';
import { HostTables1800000000000, hostEntities } from './host-tables';
import { emptyDatabase, onInnodb, onMysql, onPostgres } from './test-database';

/** The host's own sign-in: it believes what the headers say. */
export class HeaderResolver extends PrincipalResolver {
  asked = 0;

  override resolve({ headers }: Request): Principal | null {
    this.asked += 1;
    const tenantId = headers['x-tenant'];
    if (typeof tenantId !== 'string') return null;
    const username = String(headers['x-user']);
    const roles = String(headers['x-roles']).split(',') as Role[];
    const managed = headers['x-managed'];
    const part = typeof managed === 'string' ? { managedDeptIds: JSON.parse(managed) as number[] } : {};
    return { subject: username, tenantId, username, roles, ...part };
  }
}

/** The host's DataSource: its own tables beside those of the library, and options of its driver. */
export function hostDataSource(url: string, options: object = {}): DataSource {
  const tables = {
    entities: [...entities, ...hostEntities],
    migrations: [...migrations, HostTables1800000000000],
    ...options,
  };
  if (onPostgres) return new DataSource({ type: 'postgres', url, ...tables });
  return onInnodb
    ? new DataSource({ type: onMysql ? 'mysql' : 'mariadb', url, ...tables })
    : new SqliteDataSource({ database: url.slice('sqlite:'.length), ...tables });
}

export interface HostSettings {
  readonly name?: string;
  /** Where the host finds its database, when not where that is. */
  readonly url?: string;
  /** Of its DataSource, beside those that every host has. */
  readonly options?: object;
}

@Module({})
class HostModule {}

/** A Nest application of somebody else, made of these parts, on a database of its own. */
export class Host {
  private constructor(
    readonly app: NestExpressApplication,
    readonly dataSource: DataSource,
    readonly database: ThrowAwayDatabase,
    readonly anonymous: ApiClient,
  ) {}

  static async start(parts: ModuleMetadata, settings: HostSettings = {}): Promise<Host> {
    return Host.on(await emptyDatabase(), parts, settings);
  }

  static async on(
    database: ThrowAwayDatabase,
    { imports = [], ...rest }: ModuleMetadata,
    { name, url = database.url, options: ofDataSource }: HostSettings = {},
  ): Promise<Host> {
    const dataSource = await hostDataSource(url, ofDataSource).initialize();
    await dataSource.runMigrations();
    const typeorm = TypeOrmModule.forRootAsync({
      ...(name !== undefined && { name }),
      useFactory: () => ({ ...dataSource.options, ...(name !== undefined && { name }) }),
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    const module = { module: HostModule, imports: [typeorm, ...imports], ...rest };
    const options = { logger: false, abortOnError: false } as const;
    try {
      const app = await NestFactory.create<NestExpressApplication>(module, options);
      await app.listen(0, '127.0.0.1');
      return new Host(app, dataSource, database, new ApiClient(await app.getUrl()));
    } catch (error) {
      if (dataSource.isInitialized) await dataSource.destroy();
      await database.drop();
      throw error;
    }
  }

  as(caller: Caller = {}): ApiClient {
    const { tenantId = '000000', username = 'tester', roles = ['tenant_admin'], managedDeptIds } = caller;
    return this.anonymous.with({
      ...{ 'x-tenant': tenantId, 'x-user': username, 'x-roles': roles.join(',') },
      ...(managedDeptIds && { 'x-managed': JSON.stringify(managedDeptIds) }),
    });
  }

  async stop(): Promise<void> {
    this.anonymous.close();
    await this.app.close();
    await this.database.drop();
  }
}

export const system = (tenantId = '000000'): RequestContext => RequestContext.system(tenantId);
