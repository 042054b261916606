import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { PasswordHasher } from '../auth/password-hasher';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { AccountEntity } from '../../tenant/account.entity';

export interface FirstAdmin {
  readonly username: string;
  /** Only when it was generated. */
  readonly password: string | null;
}

/** Makes the platform's first account where there is none. Run it under the migration lock. */
export async function ensureFirstAdmin(
  { manager }: DataSource,
  options: { readonly password: string | undefined; readonly passwordRequired: boolean },
): Promise<FirstAdmin | null> {
  if (await manager.existsBy(AccountEntity, { tenantId: PLATFORM_TENANT })) return null;
  if (options.passwordRequired && options.password === undefined) {
    throw new Error(
      'This is the first start in production: set ADMIN_PASSWORD, the password of the account "admin".',
    );
  }
  const password = options.password ?? generatePassword();
  await manager.insert(AccountEntity, {
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

/** 24 characters, 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
