import { existsSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';
import { describeDatabase, type DatabaseLocation } from '../../database/database-url';
import { BodyPipe } from '../../web/body.pipe';
import { createDataSource } from '../../data-source';
import { TenantEntity } from '../../tenant/tenant.entity';
import type * as AppFile from '../app.module';
import type * as JwtFile from '../auth/jwt-settings';
import { dataSourceOf } from '../../database/tenantry.data-source';
import { loadService } from '../load-service';

/** Opens the configured database for one command; it must have been set up by the service before. */
export async function withDatabase<T>(
  location: DatabaseLocation,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  if (location.kind === 'sqlite' && !existsSync(location.path))
    throw new Error(`There is no database ${location.path}. Start the service once, or run: tenantry demo`);
  return opened(location, async (dataSource) => {
    await refuseOutdated(dataSource);
    return work(dataSource);
  });
}

/** Opens the database for a command that may set it up itself: `work` runs only where it has been set up before. */
export async function withExistingDatabase(
  location: DatabaseLocation,
  work: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  if (location.kind === 'sqlite' && !existsSync(location.path)) return;
  await opened(location, async (dataSource) => {
    if (await isEmpty(dataSource)) return;
    await refuseOutdated(dataSource);
    await work(dataSource);
  });
}

export function sayWaiting(): void {
  process.stderr.write('Waiting for the database.\n');
}

async function opened<T>(
  location: DatabaseLocation,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = await open(location);
  try {
    return await work(dataSource);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

/** A host has its own table of migrations, under whatever name: there the columns tell. */
async function refuseOutdated(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    const { migrationsTableName = '' } = dataSource.options;
    const isOutdated = (await runner.hasTable(migrationsTableName))
      ? (await new MigrationExecutor(dataSource).getPendingMigrations()).length > 0
      : await lacksColumns(runner);
    if (isOutdated)
      throw new Error('The database is not up to date: start the service once, or migrate your platform.');
  } finally {
    await runner.release();
  }
}

async function lacksColumns(runner: QueryRunner): Promise<boolean> {
  for (const { tableName, columns } of dataSourceOf(runner).entityMetadatas) {
    const table = await runner.getTable(tableName);
    if (!columns.every(({ databaseName }) => table?.findColumnByName(databaseName))) return true;
  }
  return false;
}

async function isEmpty(dataSource: DataSource): Promise<boolean> {
  const runner = dataSource.createQueryRunner();
  try {
    return !(await runner.hasTable(dataSource.getMetadata(TenantEntity).tableName));
  } finally {
    await runner.release();
  }
}

async function open(location: DatabaseLocation): Promise<DataSource> {
  try {
    return await (await createDataSource(location, sayWaiting)).initialize();
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`Could not open the database ${describeDatabase(location)}: ${message}`, {
      cause: error,
    });
  }
}

/** Runs `work` with the service's own modules, without listening; closes the DataSource too. */
export async function withServices<T>(
  { dataSource, env }: Pick<AppFile.ServiceParts, 'dataSource' | 'env'>,
  work: (services: INestApplicationContext) => Promise<T>,
): Promise<T> {
  // Loaded here: most commands need neither Nest nor the modules.
  const { NestFactory } = await import('@nestjs/core');
  const { AppModule, jwtSettings } = loadService('This command', () => ({
    ...(require('../app.module') as typeof AppFile),
    ...(require('../auth/jwt-settings') as typeof JwtFile),
  }));
  const context = await NestFactory.createApplicationContext(
    AppModule.of({ env, jwt: jwtSettings(env), dataSource }),
    { logger: false, abortOnError: false },
  );
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

/** Makes the same checks as on a request's body. */
export async function checked<T>(type: new () => T, body: object): Promise<T> {
  return (await new BodyPipe().transform(body, { type: 'body', metatype: type })) as T;
}
