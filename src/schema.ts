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
