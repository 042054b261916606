import type { DataSource } from 'typeorm';
import { PasswordHasher } from '../auth/password-hasher';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { AccountEntity } from '../../tenant/account.entity';
import { generatePassword } from './generate-password';

export interface FirstAdminOptions {
  /** The password to give; generated when absent. */
  readonly password: string | undefined;
  /** Refuse to make up a password. */
  readonly passwordRequired: boolean;
}

/** What was made at the very first start; `password` only when it was generated. */
export interface FirstAdmin {
  readonly username: string;
  readonly password: string | null;
}

/** Makes the platform's first account where there is none. Run it under the migration lock. */
export async function ensureFirstAdmin(
  dataSource: DataSource,
  options: FirstAdminOptions,
): Promise<FirstAdmin | null> {
  if (await dataSource.manager.existsBy(AccountEntity, { tenantId: PLATFORM_TENANT })) return null;
  if (options.passwordRequired && options.password === undefined) {
    throw new Error(
      'This is the first start in production: set ADMIN_PASSWORD, the password of the account "admin".',
    );
  }
  const password = options.password ?? generatePassword();
  await dataSource.manager.insert(AccountEntity, {
    tenantId: PLATFORM_TENANT,
    username: 'admin',
    usernameKey: 'admin',
    nameKey: 0,
    failedLogins: 0,
    passwordHash: await new PasswordHasher().hash(password),
    roles: 'superadmin',
    status: '0',
    delFlag: '0',
    createBy: 'system',
    createTime: new Date(),
    updateBy: '',
  });
  return { username: 'admin', password: options.password === undefined ? password : null };
}
