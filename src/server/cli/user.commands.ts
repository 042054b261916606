import { text } from 'node:stream/consumers';
import type { INestApplicationContext } from '@nestjs/common';
import { accountHash } from '../auth/account.entity';
import { FailedSignInRepository } from '../auth/failed-sign-in.repository';
import { SessionRepository } from '../auth/session.repository';
import type { Role } from '../../tenancy/roles';
import { RequestContext } from '../../tenancy/request-context';
import { generatePassword } from '../account/first-admin';
import { ChangePasswordDto, CreateAccountDto } from '../account/account.dto';
import { AccountErrors } from '../account/account.errors';
import { AccountService } from '../account/account.service';
import { loadEnv } from '../config/env';
import { print } from './values';
import { toldRefusal, withAccounts, withServices } from './with-database';
import { checkedAs } from '../../web/checked-as';

interface AccountOptions {
  readonly tenant: string;
  readonly user: string;
  readonly passwordStdin?: boolean;
}

interface NewAccount extends AccountOptions {
  readonly roles: Role[];
  readonly managedDepts?: readonly number[];
}

export function userAddCommand(options: NewAccount): Promise<number> {
  return onAccount(options, async (services, ctx, password) => {
    const { user: username, roles, managedDepts } = options;
    const body = { username, password, roles, managedDeptIds: managedDepts };
    await services
      .get(AccountService, { strict: false })
      .create(ctx, await checkedAs(CreateAccountDto, body));
  });
}

export function userPasswordCommand(options: AccountOptions): Promise<number> {
  return onAccount(options, async (services, ctx, newPassword) => {
    const sessions = services.get(SessionRepository, { strict: false });
    const account = await sessions.findAccount(ctx.tenantId, options.user);
    if (!account) throw AccountErrors.NOT_FOUND();
    const body = { userId: account.userId, newPassword };
    await services
      .get(AccountService, { strict: false })
      .changePassword(ctx, await checkedAs(ChangePasswordDto, body));
  });
}

export async function userUnlockCommand({ tenant, user }: AccountOptions): Promise<number> {
  await onServices({ tenant, user }, async (services, { tenantId }) => {
    const account = await services.get(SessionRepository, { strict: false }).findAccount(tenantId, user);
    if (!account) throw AccountErrors.NOT_FOUND();
    const failures = services.get(FailedSignInRepository, { strict: false });
    await failures.forgive({ accountHash: accountHash(tenantId, account.username) });
  });
  print(user);
  return 0;
}

/** Does something to an account by the same rules as the API, and prints the password if it was generated here. */
async function onAccount(
  { tenant, user, passwordStdin }: AccountOptions,
  work: (services: INestApplicationContext, ctx: RequestContext, password: string) => Promise<void>,
): Promise<number> {
  const typed = passwordStdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : null;
  const password = typed ?? generatePassword();
  await onServices({ tenant, user }, (services, ctx) => work(services, ctx, password));
  print(typed === null ? `${user}  ${password}` : user);
  return 0;
}

async function onServices(
  { tenant, user }: AccountOptions,
  work: (services: INestApplicationContext, ctx: RequestContext) => Promise<void>,
): Promise<void> {
  try {
    const env = loadEnv();
    await withAccounts(env.DATABASE_URL, (dataSource) =>
      withServices({ dataSource, env }, (services) => work(services, RequestContext.system(tenant))),
    );
  } catch (error) {
    throw toldRefusal(error, tenant, `Account '${user}' of tenant '${tenant}'`);
  }
}
