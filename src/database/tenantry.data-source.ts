import type { Provider } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';

/** The host's DataSource, under a name of the library's own: it may be any of those that the host has. */
export abstract class TenantryDataSource extends DataSource {}

/** Binds the library to the host's DataSource of this name, once it is prepared; to its default one when there is no name. */
export function boundTo(name: string | undefined, prepare: (dataSource: DataSource) => DataSource): Provider {
  return { provide: TenantryDataSource, useFactory: prepare, inject: [getDataSourceToken(name)] };
}

/** The DataSource of a manager, a query runner or an entity's metadata. TypeORM 0.3 calls it `connection`, as 2 will not. */
export function dataSourceOf(owner: { readonly dataSource: DataSource }): DataSource {
  const { dataSource } = owner as Partial<typeof owner>;
  return dataSource ?? (owner as unknown as { readonly connection: DataSource }).connection;
}
