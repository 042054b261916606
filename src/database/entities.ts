import { FailedSignInEntity } from '../auth/failed-sign-in.entity';
import { SessionEntity } from '../auth/session.entity';
import { DeptEntity } from '../dept/dept.entity';
import { TenantEntity } from '../tenant/tenant.entity';
import { AccountEntity } from '../user/account.entity';
import { SettingEntity } from './setting.entity';
import { UnitEntity } from './unit.entity';

/** Every entity of the library; a host adds them to its own DataSource. */
export const entities = [
  TenantEntity,
  DeptEntity,
  AccountEntity,
  UnitEntity,
  SessionEntity,
  FailedSignInEntity,
  SettingEntity,
];
