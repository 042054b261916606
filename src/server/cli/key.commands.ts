import type { INestApplicationContext } from '@nestjs/common';
import { RequestContext } from '../../tenancy/request-context';
import type { Role } from '../../tenancy/roles';
import { checkedAs } from '../../web/checked-as';
import { loadEnv } from '../config/env';
import { CreateKeyDto, type KeyDto } from '../key/key.dto';
import { KeyErrors } from '../key/key.errors';
import { KeyListService, KeyService } from '../key/key.service';
import { print } from './values';
import { toldRefusal, withAccounts, withServices } from './with-database';

const DAY_MS = 24 * 60 * 60 * 1000;
/** More than a tenant may have. */
const ALL = { limit: 500 };

interface KeyOptions {
  readonly name: string;
  readonly tenant: string;
}

interface NewKey extends KeyOptions {
  readonly roles: Role[];
  readonly permissions: string[];
  readonly managedDepts?: readonly number[];
  readonly days?: number;
}

/** Prints the secret, which nobody can read again. */
export function keyAddCommand({ name, tenant, days, ...granted }: NewKey): Promise<number> {
  const { roles, permissions, managedDepts: managedDeptIds } = granted;
  const endTime = days === undefined ? null : new Date(Date.now() + days * DAY_MS).toISOString();
  return onKeys(tenant, `Key '${name}'`, async (services, ctx) => {
    const dto = await checkedAs(CreateKeyDto, { name, roles, permissions, managedDeptIds, endTime });
    const { secret = '' } = await services.get(KeyService, { strict: false }).create(ctx, dto);
    print(`${name}  ${secret}`);
  });
}

export function keyListCommand({ tenant }: Pick<KeyOptions, 'tenant'>): Promise<number> {
  return onKeys(tenant, 'The keys', async (services, ctx) => {
    for (const key of await keysOf(services, ctx)) {
      const state = key.status === '0' ? 'enabled ' : 'disabled';
      const times = [`ends ${key.endTime ?? 'never'}`, `used ${key.lastUsedTime ?? 'never'}`];
      print([key.name, state, key.roles.join(','), key.permissions.join(','), ...times].join('  '));
    }
  });
}

export function keyDeleteCommand({ name, tenant }: KeyOptions): Promise<number> {
  return onKeys(tenant, `Key '${name}'`, async (services, ctx) => {
    const key = (await keysOf(services, ctx)).find((each) => each.name === name);
    if (!key) throw KeyErrors.NOT_FOUND();
    await services.get(KeyService, { strict: false }).delete(ctx, [key.keyId]);
    print(name);
  });
}

async function keysOf(services: INestApplicationContext, ctx: RequestContext): Promise<KeyDto[]> {
  return (await services.get(KeyListService, { strict: false }).list(ctx, ALL)).rows;
}

/** Does something to keys by the same rules as the API. */
async function onKeys(
  tenant: string,
  subject: string,
  work: (services: INestApplicationContext, ctx: RequestContext) => Promise<void>,
): Promise<number> {
  try {
    const env = loadEnv();
    await withAccounts(env.DATABASE_URL, (dataSource) =>
      withServices({ dataSource, env }, (services) => work(services, RequestContext.system(tenant))),
    );
  } catch (error) {
    throw toldRefusal(error, tenant, `${subject} of tenant '${tenant}'`);
  }
  return 0;
}
