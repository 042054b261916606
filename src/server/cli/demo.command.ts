import type { INestApplicationContext } from '@nestjs/common';
import { describeDatabase } from '../../database/database-url';
import { withMigrationLock } from '../../data-source';
import { CreateDeptDto } from '../../dept/dept.dto';
import { TenantryDept } from '../../dept/dept.entity';
import { DeptService } from '../../dept/dept.service';
import { RequestContext } from '../../tenancy/request-context';
import type { Role } from '../../tenancy/roles';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { AccountEntity } from '../auth/account.entity';
import { CreateTenantDto } from '../../tenant/tenant.dto';
import { TenantryTenant } from '../../tenant/tenant.entity';
import { TenantService } from '../../tenant/tenant.service';
import { generatePassword, type FirstAdmin } from '../account/first-admin';
import { CreateAccountDto } from '../account/account.dto';
import { AccountService } from '../account/account.service';
import type { ServiceParts } from '../app.module';
import { adminLines } from '../bootstrap';
import { fileOfDemo, keepDemoAccounts, type DemoAccount } from '../config/demo-accounts';
import { loadEnv } from '../config/env';
import { openDatabase } from '../open-database';
import { DEMO_PLATFORM, type DemoContent, type DemoTenant } from './demo-organisation';
import { print, UsageError } from './values';
import { sayWaiting, withExistingDatabase, withServices } from './with-database';
import { checkedAs } from '../../web/checked-as';

type Database = Pick<ServiceParts, 'dataSource' | 'env'>;

/** Fills an empty database with an example organisation, and prints who can sign in. */
export async function demoCommand({ password }: { readonly password?: string }): Promise<number> {
  if (password !== undefined && (password.length < 8 || password.length > 128))
    throw new UsageError('--password must be 8 to 128 characters long.');
  const env = loadEnv();
  if (env.LOCAL_ACCOUNTS === 'off')
    throw new Error('LOCAL_ACCOUNTS is off: the accounts of the demo could not sign in.');
  // A database in use is refused before it would be migrated.
  await withExistingDatabase(env.DATABASE_URL, (dataSource) => refuseContent({ dataSource, env }));
  const { dataSource, firstAdmin } = await openDatabase(env, sayWaiting);
  try {
    const demo = await fill({ dataSource, env }, password ?? generatePassword());
    print(report(demo, env, firstAdmin, password !== undefined));
    if (isOffered(env, password !== undefined)) keepDemoAccounts(env, demo.accountsToTry(firstAdmin));
    return 0;
  } catch (error) {
    // The account is there, and this is the only chance to learn its password.
    adminLines(firstAdmin).forEach(print);
    throw error;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

/** Of several demos at once one fills the database: they take the lock of a service that starts. */
function fill(database: Database, password: string): Promise<Demo> {
  const { DATABASE_URL: location } = database.env;
  return withMigrationLock(location, () =>
    withServices(database, async (services) => {
      await refuseContent(database);
      const demo = new Demo(services, password);
      try {
        await demo.build();
      } catch (error) {
        throw new Error(
          `The demo stopped half way: ${error instanceof Error ? error.message : String(error)}. ` +
            `${describeDatabase(location)} holds a part of it: remove that database before you run the demo again.`,
          { cause: error },
        );
      }
      return demo;
    }),
  );
}

/** Deleted rows count too. */
async function refuseContent({ dataSource: { manager }, env }: Database): Promise<void> {
  const platform = { tenantId: PLATFORM_TENANT };
  const tenants = (await manager.count(TenantryTenant)) - (await manager.countBy(TenantryTenant, platform));
  const depts = await manager.count(TenantryDept);
  const admins = await manager.countBy(AccountEntity, { ...platform, username: 'admin' });
  const accounts = (await manager.count(AccountEntity)) - admins;
  if (tenants + depts + accounts === 0) return;
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  throw new Error(
    `The database ${describeDatabase(env.DATABASE_URL)} is not empty: ${count(tenants, 'tenant')}, ` +
      `${count(depts, 'department')}, ${count(accounts, 'account')} beside the platform and its admin. Nothing was changed.`,
  );
}

/** Adds the example organisation through the services, so that all rules of the API hold for it. */
class Demo {
  readonly users: { tenantId: string; tenantName: string; username: string; role: Role }[] = [];
  tenantCount = 1;
  deptCount = 0;

  constructor(
    private readonly services: INestApplicationContext,
    readonly password: string,
  ) {}

  /** Those whose passwords were made here. */
  accountsToTry(firstAdmin: FirstAdmin | null): DemoAccount[] {
    return this.users.flatMap((user) => {
      const password = user.role === 'superadmin' ? firstAdmin?.password : this.password;
      return password ? [{ ...user, password }] : [];
    });
  }

  async build(): Promise<void> {
    const ctx = RequestContext.system(PLATFORM_TENANT);
    const { tenantName } = await this.services.get(TenantService, { strict: false }).getOwn(ctx);
    this.users.push({ tenantId: PLATFORM_TENANT, tenantName, username: 'admin', role: 'superadmin' });
    // Departments of the first tenant come first: the examples of the document work on department 1, in the tenant of the tour.
    for (const tenant of DEMO_PLATFORM.tenants ?? []) await this.#addTenant(ctx, tenant);
    await this.#fill(ctx, tenantName, { ...DEMO_PLATFORM, tenants: [] });
  }

  async #addTenant(parent: RequestContext, tenant: DemoTenant): Promise<void> {
    const tenants = this.services.get(TenantService, { strict: false });
    const contact = {
      contactUserName: tenant.accounts[0]?.split(' ')[1],
      contactPhone: String(13_800_010_000 + this.tenantCount),
    };
    this.tenantCount += 1;
    const id = await tenants.create(
      parent,
      await checkedAs(CreateTenantDto, { ...tenant.fields, ...contact }),
    );
    const { tenantId, tenantName } = await tenants.get(parent, id);
    await this.#fill(RequestContext.system(tenantId), tenantName, tenant);
  }

  async #fill(ctx: RequestContext, tenantName: string, content: DemoContent): Promise<void> {
    const { tenantId } = ctx;
    const deptIds = await this.#addDepts(ctx, content);
    // The administrator is the last, so that no example with a small id is about the account that tries it out.
    const made: Demo['users'] = [];
    for (const [index, account] of [...content.accounts.entries()].reverse()) {
      const [username = '', nickname, dept = '', manages] = account.split(' ');
      const role = index === 0 ? 'tenant_admin' : manages ? 'dept_admin' : 'member';
      const email = `${username}@${content.domain}`;
      const deptId = deptIds.get(dept);
      const managed = role === 'dept_admin' ? { managedDeptIds: [deptId] } : {};
      const body = { username, nickname, deptId, email, roles: [role], ...managed };
      const dto = await checkedAs(CreateAccountDto, { ...body, password: this.password });
      await this.services.get(AccountService, { strict: false }).create(ctx, dto);
      made.unshift({ tenantId, tenantName, username, role });
    }
    this.users.push(...made);
    for (const below of content.tenants ?? []) await this.#addTenant(ctx, below);
  }

  /** Gives the ids by the names. */
  async #addDepts(ctx: RequestContext, { depts, domain }: DemoContent): Promise<Map<string, number>> {
    const service = this.services.get(DeptService, { strict: false });
    const ids = new Map<string, number>();
    /** The last department of each depth; 0 is above all. */
    const last = [0];
    for (const line of depts) {
      const depth = line.search(/\S/) / 2;
      for (const dept of line.trim().split(', ')) {
        const [deptName = '', leader, disabled] = dept.split(' ');
        const orderNum = (this.deptCount += 1);
        const contact = { phone: String(13_800_000_000 + orderNum), email: `office${orderNum}@${domain}` };
        const place = { parentId: last[depth], orderNum, status: disabled ? '1' : '0' };
        const dto = await checkedAs(CreateDeptDto, { deptName, leader, ...contact, ...place });
        const id = await service.create(ctx, dto);
        ids.set(deptName, id);
        last[depth + 1] = id;
      }
    }
    return ids;
  }
}

/** Who can sign in, and what to try next. A password that the operator chose is not shown. */
/** Whether the console offers the accounts. */
function isOffered({ CONSOLE, NODE_ENV }: Database['env'], isChosen: boolean): boolean {
  return !isChosen && CONSOLE === 'on' && NODE_ENV !== 'production';
}

function report(demo: Demo, env: Database['env'], firstAdmin: FirstAdmin | null, isChosen: boolean): string {
  const { tenantCount, deptCount } = demo;
  const isPlatform = ({ tenantId }: { tenantId: string }): boolean => tenantId === PLATFORM_TENANT;
  const users = [...demo.users.filter(isPlatform), ...demo.users.filter((user) => !isPlatform(user))];
  const adminPassword = firstAdmin ? (firstAdmin.password ?? 'ADMIN_PASSWORD') : 'as before';
  const userPassword = isChosen ? 'as given' : demo.password;
  const rows = users.map(({ tenantId, tenantName, username, role }) => [
    ...[tenantId, tenantName, username, role],
    role === 'superadmin' ? adminPassword : userPassword,
  ]);
  const { tenantId, username } = users.find((user) => !isPlatform(user)) ?? {};
  const address = `http://${/^(0\.0\.0\.0|::)$/.test(env.HOST) ? '127.0.0.1' : env.HOST}:${env.PORT}`;
  const credentials = JSON.stringify({ tenantId, username, password: isChosen ? '…' : demo.password });
  return [
    `The example organisation is there: ${tenantCount} tenants, ${deptCount} departments, ${users.length} accounts.`,
    '',
    ...table([['TENANT', 'NAME', 'USER', 'ROLE', 'PASSWORD'], ...rows]),
    '',
    'Passwords are shown only this once. Start the service (npm start), then try:',
    '',
    `  TOKEN=$(curl -s ${address}/auth/login -H 'Content-Type: application/json' \\`,
    `    -d '${credentials}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
    `  curl ${address}/system/dept-api/tree -H "Authorization: Bearer $TOKEN"`,
    '',
    ...(isOffered(env, isChosen)
      ? [
          `Or open ${address} and choose an account: the page offers them to everybody, while ${fileOfDemo(env)} is there.`,
        ]
      : []),
    env.DOCS === 'on'
      ? `Or open ${address}/docs, press Authorize and sign in as ${tenantId}/${username}.`
      : 'Swagger UI is off; DOCS=on opens it at /docs.',
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): string[] {
  // Columns on a terminal: a Chinese character takes two.
  const width = (text = '') => text.length + (text.match(/[\u2e80-\uffef]/g)?.length ?? 0);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column]))));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
      .join('  ')
      .trimEnd(),
  );
}
