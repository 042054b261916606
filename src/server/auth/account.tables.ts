import { AccountEntity, FailedSignInEntity, KeyEntity, SessionEntity } from './account.entity';
import { FailedSignIns1763164800011 } from './migrations/1763164800011-failed-sign-ins';
import { UsernameKeys1763164800012 } from './migrations/1763164800012-username-keys';
import { DropFailedLogins1763164800023 } from './migrations/1763164800023-drop-failed-logins';
import { PartsOfTenants1763164800024 } from './migrations/1763164800024-parts-of-tenants';
import { SignInRecords1763164800025 } from './migrations/1763164800025-sign-in-records';

// Apart from the modules, which need packages that a host has not: its `tenantry doctor` knows these tables, too.

export const ACCOUNT_TABLES = {
  entities: [AccountEntity],
  migrations: [UsernameKeys1763164800012, PartsOfTenants1763164800024],
};

export const KEY_TABLES = { entities: [KeyEntity] };

export const SIGN_IN_TABLES = {
  entities: [SessionEntity, FailedSignInEntity],
  migrations: [FailedSignIns1763164800011, DropFailedLogins1763164800023, SignInRecords1763164800025],
};
