import { existsSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import type { DataSource, QueryRunner } from 'typeorm';
import { tellDatabase, type DatabaseLocation } from '../../database/database-url';
import { Refusal } from '../../errors/refusal';
import { TenantErrors } from '../../tenancy/tenant.errors';
import { TenantryTenant } from '../../tenant/tenant.entity';
import { entities } from '../../resources';
import type * as AppFile from '../app.module';
import { AccountEntity } from '../auth/account.entity';
import { dataSourceOf, withQueryRunner } from '../../database/tenantry.data-source';
import { loadService } from '../load-service';
import { createServiceDataSource, refuseOutdated } from '../service-data-source';

type Work<T> = (dataSource: DataSource) => Promise<T>;

/** Opens the configured database for one command, whether it is the service's or a host's; it must have been set up before. */
export async function withDatabase<T>(location: DatabaseLocation, work: Work<T>): Promise<T> {
  if (location.kind === 'sqlite' && !existsSync(location.path))
    throw new Error(`There is no database ${location.path}. Start the service once, or run: tenantry demo`);
  return opened(location, async (dataSource) => {
    await refuseOtherSchema(dataSource);
    return work(dataSource);
  });
}

/** Opens the service's database for a command that needs accounts. */
export function withAccounts<T>(location: DatabaseLocation, work: Work<T>): Promise<T> {
  return withDatabase(location, async (dataSource) => {
    await refuseHost(dataSource);
    return work(dataSource);
  });
}

/** Refuses what is neither empty nor the service's. */
export async function refuseOthers(dataSource: DataSource): Promise<void> {
  if (!(await isEmpty(dataSource))) await refuseHost(dataSource);
}

/** Opens the service's database for a command that may set it up itself: `work` runs only where it has been set up before. */
export async function withExistingDatabase(location: DatabaseLocation, work: Work<void>): Promise<void> {
  if (location.kind === 'sqlite' && !existsSync(location.path)) return;
  await opened(location, async (dataSource) => {
    if (await isEmpty(dataSource)) return;
    await refuseOtherSchema(dataSource);
    await refuseHost(dataSource);
    await work(dataSource);
  });
}

export function sayWaiting(): void {
  process.stderr.write('Waiting for the database.\n');
}

/** A host has its own table of migrations, under whatever name: there the columns of the library tell. */
async function refuseOtherSchema(dataSource: DataSource): Promise<void> {
  if (await isOfService(dataSource)) await refuseOutdated(dataSource);
  else if (await withQueryRunner(dataSource, lacksColumns))
    throw new Error('The database is not up to date: migrate your platform.');
}

async function refuseHost(dataSource: DataSource): Promise<void> {
  if (!(await isOfService(dataSource)))
    throw new Error('This is the database of a platform with users of its own: there are no accounts in it.');
}

/** Whether the service has made this database, and not a host. */
export function isOfService(dataSource: DataSource): Promise<boolean> {
  const { migrationsTableName = '' } = dataSource.options;
  const { tableName: accounts } = dataSource.getMetadata(AccountEntity);
  return withQueryRunner(
    dataSource,
    async (runner) => (await runner.hasTable(migrationsTableName)) && (await runner.hasTable(accounts)),
  );
}

async function lacksColumns(runner: QueryRunner): Promise<boolean> {
  for (const entity of entities) {
    const { tableName, columns } = dataSourceOf(runner).getMetadata(entity);
    const table = await runner.getTable(tableName);
    if (!columns.every(({ databaseName }) => table?.findColumnByName(databaseName))) return true;
  }
  return false;
}

/** Types of columns that hold what a clock showed, without its zone. */
const WALL_TIMES: ReadonlySet<string> = new Set(['datetime', 'timestamp without time zone']);

/**
 * The rows of a table or a view that a host has in the same database. Times without a zone come as texts: as dates, they would
 * depend on the settings of the driver.
 */
export function readTable(
  dataSource: DataSource,
  name: string,
  where = '1=1',
): Promise<Record<string, unknown>[]> {
  const escape = (part: string): string => dataSource.driver.escape(part);
  return withQueryRunner(dataSource, async (runner) => {
    const table = await runner.getTable(name);
    if (!table) throw new Error(`There is no table ${name} in the database.`);
    const columns = table.columns.map(({ name: column, type }) => {
      const quoted = escape(column);
      return WALL_TIMES.has(type) ? `CAST(${quoted} AS CHAR(26)) AS ${quoted}` : quoted;
    });
    const from = name.split('.').map(escape).join('.');
    return (await runner.query(`SELECT ${columns.join(', ')} FROM ${from} WHERE ${where}`)) as Record<
      string,
      unknown
    >[];
  });
}

/** An error that says in one line who was refused what; errors that are no refusals stay as they are. */
export function toldRefusal(error: unknown, tenant: string, subject: string): unknown {
  if (!(error instanceof Refusal)) return error;
  const { row, details } = error;
  if (row === TenantErrors.DELETED.row)
    return new Error(`There is no tenant '${tenant}'. Run: tenantry tenant:list`, { cause: error });
  const fields = details.fields?.map(({ field, message }) => `${field} ${message.en}`).join('; ');
  return new Error(`${subject}: ${fields ?? row.en} (${row.reason})`, { cause: error });
}

function isEmpty(dataSource: DataSource): Promise<boolean> {
  const { tableName } = dataSource.getMetadata(TenantryTenant);
  return withQueryRunner(dataSource, async (runner) => !(await runner.hasTable(tableName)));
}

async function opened<T>(location: DatabaseLocation, work: Work<T>): Promise<T> {
  const made = await createServiceDataSource(location, sayWaiting);
  const dataSource = await made.initialize().catch(tellDatabase(location));
  try {
    return await work(dataSource);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

/** Runs `work` with the service's own modules, without listening; closes the DataSource too. */
export async function withServices<T>(
  { dataSource, env }: Pick<AppFile.ServiceParts, 'dataSource' | 'env'>,
  work: (services: INestApplicationContext) => Promise<T>,
): Promise<T> {
  // Loaded here: most commands need neither Nest nor the modules.
  const { NestFactory } = await import('@nestjs/core');
  const { AppModule } = loadService('This command', () => require('../app.module') as typeof AppFile);
  const options = { logger: false, abortOnError: false } as const;
  const context = await NestFactory.createApplicationContext(AppModule.of({ env, dataSource }), options);
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}
