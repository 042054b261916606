import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module';
import { SessionRepository } from '../auth/session.repository';
import { jwtSettings } from '../config/jwt-settings';
import { BodyPipe } from '../http/body.pipe';
import { Refusal } from '../http/error-catalogue';
import { RequestContext } from '../tenancy/request-context';
import { PLATFORM_TENANT } from '../tenant/platform-tenant';
import { generatePassword } from '../user/generate-password';
import { ChangePasswordDto, CreateUserDto } from '../user/user.dto';
import { UserService } from '../user/user.service';
import { print } from './print';
import { withDatabase } from './with-database';

const OPTIONS = {
  tenant: { type: 'string', default: PLATFORM_TENANT },
  user: { type: 'string' },
  roles: { type: 'string', default: 'member' },
  'password-stdin': { type: 'boolean', default: false },
} as const;

interface Services {
  readonly users: UserService;
  readonly sessions: SessionRepository;
}

export function userAddCommand(args: string[]): Promise<number> {
  return onAccount(args, async ({ users }, { ctx, username, password, roles }) => {
    const body = { username, password, roles: roles.split(',') };
    await users.create(ctx, await checked(CreateUserDto, body));
  });
}

export function userPasswordCommand(args: string[]): Promise<number> {
  return onAccount(args, async ({ users, sessions }, { ctx, username, password }) => {
    const account = await sessions.findAccount(ctx.tenantId, username);
    if (!account) throw new Error(`There is no account '${username}' in tenant ${ctx.tenantId}.`);
    const body = { userId: account.userId, newPassword: password };
    await users.changePassword(ctx, await checked(ChangePasswordDto, body));
  });
}

interface Order {
  readonly ctx: RequestContext;
  readonly username: string;
  readonly password: string;
  readonly roles: string;
}

/** Does something to an account by the same rules as the API, and tells the password if it was made up here. */
async function onAccount(
  args: string[],
  work: (services: Services, order: Order) => Promise<void>,
): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const { tenant, user: username, roles } = values;
  if (username === undefined) throw new Error('--user is missing.');
  const typed = values['password-stdin'] ? (await text(process.stdin)).replace(/\r?\n$/, '') : null;
  const password = typed ?? generatePassword();
  await withServices((services) =>
    work(services, { ctx: RequestContext.system(tenant), username, password, roles }),
  );
  print(typed === null ? `${username}  ${password}` : username);
  return 0;
}

/** The service's own modules, without listening. */
async function withServices(work: (services: Services) => Promise<void>): Promise<void> {
  await withDatabase(async (dataSource, env) => {
    const jwt = jwtSettings(env);
    const options = { logger: false, abortOnError: false } as const;
    const context = await NestFactory.createApplicationContext(
      AppModule.of({ env, jwt, dataSource }),
      options,
    );
    await work({
      users: context.get(UserService, { strict: false }),
      sessions: context.get(SessionRepository, { strict: false }),
    });
    await context.close();
  });
}

/** The same checks as on a request's body. */
async function checked<T>(type: new () => T, body: object): Promise<T> {
  try {
    return (await new BodyPipe().transform(body, { type: 'body', metatype: type })) as T;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Error(error.details.fields?.map(({ field, message }) => `${field} ${message.en}`).join('; '), {
      cause: error,
    });
  }
}
