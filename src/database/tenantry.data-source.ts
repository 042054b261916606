import type { Provider } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { DataSource, type QueryRunner } from 'typeorm';

/** The host's DataSource, under a name of the library's own: it may be any of those that the host has. */
export abstract class TenantryDataSource extends DataSource {}

/** Binds the library to the host's DataSource of this name, once it is prepared; to its default one when there is no name. */
export function boundTo(name: string | undefined, prepare: (dataSource: DataSource) => DataSource): Provider {
  return { provide: TenantryDataSource, useFactory: prepare, inject: [getDataSourceToken(name)] };
}

/** Runs `work` with a query runner, which is released afterwards. */
export async function withQueryRunner<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    return await work(runner);
  } finally {
    await runner.release();
  }
}

/** The DataSource of a manager, a query runner or an entity's metadata. TypeORM 0.3 calls it `connection`, as 2 will not. */
export function dataSourceOf(owner: { readonly dataSource: DataSource }): DataSource {
  const { dataSource } = owner as Partial<typeof owner>;
  return dataSource ?? (owner as unknown as { readonly connection: DataSource }).connection;
}
