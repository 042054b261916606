import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { DomainEvents } from '../../database/domain-events';
import { SilentMeter } from '../../database/meter';
import { UnitOfWork } from '../../database/unit-of-work';
import { RequestContext } from '../../tenancy/request-context';
import { SystemClock } from '../../time/clock';
import { PasswordHasher } from '../auth/password-hasher';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { AccountEntity } from '../auth/account.entity';
import type { AccountFields } from './account.mapper';
import { AccountRepository } from './account.repository';

export interface FirstAdmin {
  readonly username: string;
  /** Only when it was generated. */
  readonly password: string | null;
}

const ADMIN: AccountFields = {
  username: 'admin',
  nickname: null,
  deptId: null,
  email: null,
  phone: null,
  roles: 'superadmin',
  managedDeptIds: [],
  dataScope: 'all',
  scopeDeptIds: [],
  status: '0',
};

/** Makes the platform's first account where there is none. Run it under the migration lock. */
export async function ensureFirstAdmin(
  dataSource: DataSource,
  options: { readonly password: string | undefined; readonly passwordRequired: boolean },
): Promise<FirstAdmin | null> {
  if (await dataSource.manager.existsBy(AccountEntity, { tenantId: PLATFORM_TENANT })) return null;
  if (options.passwordRequired && options.password === undefined) {
    throw new Error(
      'This is the first start in production: set ADMIN_PASSWORD, the password of the account "admin".',
    );
  }
  const password = options.password ?? generatePassword();
  const hash = await new PasswordHasher().hash(password);
  const clock = new SystemClock();
  const unitOfWork = new UnitOfWork(dataSource, new DomainEvents(), clock, new SilentMeter());
  await new AccountRepository(unitOfWork, clock).transaction(
    RequestContext.system(PLATFORM_TENANT),
    (accounts) => accounts.add(ADMIN, hash),
  );
  return { username: ADMIN.username, password: options.password === undefined ? password : null };
}

/** 24 characters, 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
