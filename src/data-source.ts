import type { DataSource, MigrationInterface } from 'typeorm';
import type { DatabaseLocation } from './database/database-url';
import { backendOf } from './database/backend-of';
import { migrations } from './database/migrations/index';
import { FailedSignInEntity, SessionEntity, AccountEntity } from './tenant/account.entity';
import { DeptEntity } from './dept/dept.entity';
import { TenantEntity } from './tenant/tenant.entity';
import { SettingEntity } from './database/setting.entity';
import { CommitRecord } from './database/commit-record.entity';

/** Every entity of the library; a host adds them to its own DataSource. */
export const entities = [
  TenantEntity,
  DeptEntity,
  AccountEntity,
  CommitRecord,
  SessionEntity,
  FailedSignInEntity,
  SettingEntity,
];

/** Tables of a host beside those of the library. */
export interface OwnTables {
  readonly entities?: readonly (new () => object)[];
  readonly migrations?: readonly (new () => MigrationInterface)[];
}

/** A DataSource for this location, not yet initialised. `onWait` is called when the server is not there yet. */
export async function createDataSource(
  location: DatabaseLocation,
  onWait?: () => void,
  own: OwnTables = {},
): Promise<DataSource> {
  const tables = {
    entities: [...entities, ...(own.entities ?? [])],
    migrations: [...migrations, ...(own.migrations ?? [])],
  };
  return backendOf(location).createDataSource(tables, onWait);
}
