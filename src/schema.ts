import { FailedSignInEntity } from './tenant/failed-sign-in.entity';
import { SessionEntity } from './tenant/session.entity';
import { DeptEntity } from './dept/dept.entity';
import { TenantEntity } from './tenant/tenant.entity';
import { AccountEntity } from './tenant/account.entity';
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
