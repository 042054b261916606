import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DataSource } from 'typeorm';
import { TenantryDept } from '../../src/dept/dept.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { serviceTables } from '../../src/server/service-data-source';
import { ChildService } from '../support/child-service';
import { FreshPlace } from '../support/fresh-place';
import { runCli } from '../support/run-cli';

const shell = promisify(execFile);
const ROW = /^(\d{6}) {2}(\S+) +(\S+) +(superadmin|tenant_admin|dept_admin|member) +(\S+)$/gm;

interface Node {
  readonly children: readonly Node[];
}

describe('the demo', () => {
  const place = new FreshPlace();

  const demo = (...args: string[]) => runCli(place.database, ['demo', ...args], '', { PORT: place.port });
  const start = (more: Record<string, string> = {}) =>
    ChildService.start(place.database, { PORT: place.port, ...more });
  const rowsIn = (text: string) =>
    [...text.matchAll(ROW)].map(([, tenantId, tenantName, username, role, password]) => ({
      ...{ tenantId: tenantId!, tenantName: tenantName!, username: username! },
      ...{ role: role!, password: password! },
    }));
  const heightOf = (nodes: readonly Node[]): number =>
    nodes.length === 0 ? 0 : 1 + Math.max(...nodes.map(({ children }) => heightOf(children)));
  const counts = async (dataSource: DataSource) =>
    Promise.all(
      [TenantryTenant, TenantryDept, AccountEntity].map((table) =>
        dataSource.manager.count(table as typeof TenantryDept),
      ),
    );

  it('the demo fills a fresh database with an organisation whose accounts all sign in', async () => {
    const { code, out, err } = await demo();
    expect([code, err]).toEqual([0, '']);
    const accounts = rowsIn(out);
    expect(accounts[0]).toMatchObject({ tenantId: '000000', username: 'admin', role: 'superadmin' });
    expect(accounts.map(({ role }) => role)).toContain('dept_admin');
    const service = await start();
    const tenants = new Set(accounts.map(({ tenantId }) => tenantId));
    const [departments, heights] = [[] as number[], [] as number[]];
    for (const { tenantId, username, password, role } of accounts) {
      const { body, status } = await service.anonymous.post('/auth/login', { tenantId, username, password });
      expect([username, status]).toEqual([username, 200]);
      const api = service.anonymous.as((body.data as { accessToken: string }).accessToken);
      const me = (await api.get('/auth/me')).body.data;
      expect(me).toMatchObject({ tenantId, username, roles: [role], tenantState: 'ACTIVE' });
      if (!tenants.delete(tenantId)) continue;
      const { rows } = (await api.get('/system/dept-api?limit=500')).body.data as { rows: unknown[] };
      departments.push(rows.length);
      const tree = (await api.get('/system/dept-api/tree')).body.data as { rows: Node[] };
      heights.push(heightOf(tree.rows));
    }
    expect(departments.every((count) => count > 0)).toBe(true);
    const total = departments.reduce((sum, count) => sum + count, 0);
    expect(Math.abs(total - 60)).toBeLessThanOrEqual(5);
    expect(Math.max(...heights)).toBeGreaterThanOrEqual(4);
    await itHasAllOfIt(service);
    await itsCommandsWork(out);
    await thePageOffersAll(service, accounts);
    await service.stop();
  });

  /** To everybody who opens it, but not in production. */
  async function thePageOffersAll(service: ChildService, accounts: object[]): Promise<void> {
    const offered = async ({ anonymous }: ChildService) =>
      ((await anonymous.get('/')).body.data as { demoAccounts?: object[] }).demoAccounts;
    expect(await offered(service)).toHaveLength(accounts.length);
    expect(await offered(service)).toEqual(expect.arrayContaining(accounts));
    const file = join(place.database.folder, 'demo-accounts.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const more of [{ NODE_ENV: 'production' }, { CONSOLE: 'off' }]) {
      const silent = await ChildService.start(place.database, more);
      expect([more, await offered(silent)]).toEqual([more, undefined]);
      await silent.stop();
    }
    rmSync(file);
    expect(await offered(service)).toBeUndefined();
  }

  /** Two tenants below the platform, each with its own; both roles everywhere; people in departments; one disabled. */
  async function itHasAllOfIt(service: ChildService): Promise<void> {
    const { rows } = (await service.as().get('/system/tenant-api')).body.data as {
      rows: { id: string; tenantId: string; tenantParent: string | null; state: string }[];
    };
    const below = (code: string) => rows.filter(({ tenantParent }) => tenantParent === code);
    expect(below('000000')).toHaveLength(2);
    for (const { tenantId } of below('000000')) expect(below(tenantId).length).toBeGreaterThan(0);
    for (const { id, tenantId, state } of rows) {
      expect(state).toBe('ACTIVE');
      const list = (await service.as({ tenantId }).get('/system/user-api')).body.data as {
        rows: { roles: string[]; deptId: number | null }[];
      };
      const roles = list.rows.flatMap((account) => account.roles);
      expect(roles).toEqual(expect.arrayContaining(['tenant_admin', 'member']));
      expect(list.rows.some(({ deptId }) => deptId !== null)).toBe(true);
      if (tenantId === '000000') continue;
      const { data } = (await service.as().get(`/system/tenant-api/${id}`)).body;
      expect(data).toMatchObject({ packageBo: { menuIds: expect.stringMatching(/\d/) as string } });
    }
    const dataSource = await place.database.open(serviceTables);
    expect(await dataSource.manager.countBy(TenantryDept, { status: '1' })).toBe(1);
  }

  /** What it prints to try next works as it is, in a tenant where the examples of the document work too. */
  async function itsCommandsWork(out: string): Promise<void> {
    const printed = out.slice(out.indexOf('  TOKEN=$(')).split('\n\n')[0]!;
    const { stdout } = await shell('sh', ['-c', printed]);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 200,
      data: {
        truncated: false,
        rows: [{ deptId: 1, hasChildren: false }, { hasChildren: true }, {}, {}, {}],
      },
    });
    expect(out).toContain(`http://127.0.0.1:${place.port}/docs`);
  }

  it('the demo runs once: of two at the same time one fills the database, the other refuses', async () => {
    const both = await Promise.all([demo(), demo()]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
    const admins = both.flatMap(({ out }) => [...out.matchAll(/admin +(?:superadmin|\/) +([\w-]{24})/g)]);
    expect(admins).toHaveLength(1);
    const dataSource = await place.database.open(serviceTables);
    const before = await counts(dataSource);
    const again = await demo();
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('is not empty')]);
    expect(await counts(dataSource)).toEqual(before);
  });
});
