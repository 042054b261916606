import type { DataSource } from 'typeorm';
import { createDataSource } from '../data-source';
import type { DatabaseLocation } from '../database/database-url';
import { AccountEntity, FailedSignInEntity, SessionEntity } from './auth/account.entity';
import { FailedSignIns1763164800011 } from './auth/migrations/1763164800011-failed-sign-ins';
import { UsernameKeys1763164800012 } from './auth/migrations/1763164800012-username-keys';
import { DropFailedLogins1763164800023 } from './auth/migrations/1763164800023-drop-failed-logins';

/** What the service has beside the tables of the library; a host has users of its own. */
export const serviceTables = {
  entities: [AccountEntity, SessionEntity, FailedSignInEntity],
  migrations: [FailedSignIns1763164800011, UsernameKeys1763164800012, DropFailedLogins1763164800023],
};

/** A DataSource of the service, not yet initialised. `onWait` is called when the server is not there yet. */
export function createServiceDataSource(
  location: DatabaseLocation,
  onWait?: () => void,
): Promise<DataSource> {
  return createDataSource(location, onWait, serviceTables);
}
