import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { onInnodb, onPostgres } from './test-database';

/** What TypeORM would change in the tables of this DataSource, if it were not told to leave those of Tenantry to migrations. */
export async function schemaChanges(dataSource: DataSource): Promise<string[]> {
  for (const metadata of dataSource.entityMetadatas.filter(({ synchronize }) => !synchronize)) {
    metadata.synchronize = true;
    metadata.columns.forEach(takeTypeOfDatabase);
  }
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

/** Entities have types that every database knows; migrations give columns those that suit each. */
function takeTypeOfDatabase(column: ColumnMetadata): void {
  if (onInnodb && column.type === 'text') column.type = 'mediumtext';
  if (!onPostgres) return;
  if (column.type === Date) column.type = 'timestamp with time zone';
  if (column.collation) Object.assign(column, { charset: '', collation: 'C' });
}
