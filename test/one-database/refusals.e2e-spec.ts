import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { sign } from 'jsonwebtoken';
import { TenantryChange } from '../../src/journal/change-log';
import { newKeySecret } from '../../src/server/auth/key-secret';
import { PasswordHasher } from '../../src/server/auth/password-hasher';
import { HISTORY_LIMITS, LONG_READS } from '../../src/dept/history/dept-journal';
import { DeptTransferService } from '../../src/dept/transfer/dept-transfer.service';
import { FORMATS } from '../../src/dept/transfer/file-format';
import type { ErrorRow, RefusalFactory } from '../../src/errors/refusal';
import { RequestContext } from '../../src/tenancy/request-context';
import { NOT_A_REQUEST } from '../../src/web/work-place';
import { aDept, type Answer, type ApiClient, aTenant, type Caller } from '../../src/server/testing';
import { breakOnPurpose } from '../support/examined-databases';
import { ChangeWaiters } from '../../src/changes/change-waiters';
import { CHANGES, cursorNow } from '../support/follower';
import { FullHouse } from '../support/full-house';
import { Receiver } from '../support/receiver';
import { anAccount, aTenantRow, aTenantWith, deptRows } from '../support/seeds';
import { JWT, ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const SRC = join(__dirname, '..', '..', 'src');
const PATH = '/system/dept-api';
const TENANTS = '/system/tenant-api';
const USERS = '/system/user-api';
const HOOKS = '/system/webhook-api';
const KEYS = '/system/key-api';
const RISK = '/system/quota-api/riskReport';
const PASSWORD = 'a-long-password';

/** Every row of every catalogue, found by the catalogues' file names. */
async function catalogue(): Promise<ErrorRow[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.errors.ts'),
  );
  const modules = await Promise.all(
    files.map((file) => import(join(SRC, file)) as Promise<Record<string, Record<string, RefusalFactory>>>),
  );
  return modules.flatMap((module) =>
    Object.values(module).flatMap((errors) => Object.values(errors).map(({ row }) => row)),
  );
}

describe('the catalogue of refusals', () => {
  let service: ServiceUnderTest;
  /** On the same database, with limits that are quickly met. */
  let limited: ServiceUnderTest;
  /** On the same database, where what a parent has limits its children. */
  let ceiled: ServiceUnderTest;
  let house: FullHouse;

  beforeAll(async () => {
    service = await ServiceUnderTest.start({ WEBHOOK_ALLOW_PRIVATE: 'on' });
    limited = await ServiceUnderTest.on(service.database, { RATE_LIMIT: 'on', RATE_LIMIT_USER: '1' });
    ceiled = await ServiceUnderTest.on(service.database, { PACKAGE_CEILING: 'on', QUOTA_CEILING: 'on' });
    house = await FullHouse.on(service.database);
  });
  afterAll(async () => {
    await Promise.all([limited.leave(), ceiled.leave(), house.leave()]);
    await service.stop();
  });

  /** Refused before there is a request that could ask for a language. */
  const beforeLanguage = new Set(['HEADERS_TOO_LARGE', 'REQUEST_TIMEOUT']);
  /** Only routes and jobs of hosts are refused with them: quota-host.e2e-spec.ts and adoption.e2e-spec.ts provoke them. */
  const OF_HOSTS = ['MENU_NOT_LICENSED', 'DEPT_TREE_NOT_EMPTY'];
  let english = false;
  const as = (caller?: Caller) => speaking(service.as(caller));
  const speaking = (api: ApiClient) => (english ? api.with({ 'accept-language': 'en' }) : api);

  /** How each refusal is met; a reason with two statuses is met in two ways. */
  const provoke: Record<string, () => Promise<Answer>> = {
    INVALID_INPUT: () => as().get(`${PATH}/x`),
    MALFORMED_REQUEST: () => as().post(PATH, '{'),
    ROUTE_NOT_FOUND: () => as().get('/x'),
    BODY_TOO_LARGE: () => as().post(PATH, { x: 'x'.repeat(300_000) }),
    UNSUPPORTED_MEDIA_TYPE: () => as().post(PATH, 'x', { 'content-type': 'text/csv' }),
    EXPECTATION_FAILED: () => as().get(PATH, { expect: 'x' }),
    HEADERS_TOO_LARGE: () => as().get(PATH, { x: 'x'.repeat(20_000) }),
    REQUEST_TIMEOUT: () => timedOut(),
    INTERNAL_ERROR: async () => {
      await service.dataSource.query('ALTER TABLE tenantry_dept RENAME COLUMN phone TO renamed');
      const answer = await as().get(`${PATH}/1`);
      await service.dataSource.query('ALTER TABLE tenantry_dept RENAME COLUMN renamed TO phone');
      return answer;
    },
    OVERLOADED: () => crowdedOut(),
    DATABASE_UNAVAILABLE: () => whileLocked(),
    TOKEN_MISSING: () => speaking(service.anonymous).get(`${PATH}/1`),
    TOKEN_INVALID: () => speaking(service.anonymous).as('e.e.x').get(`${PATH}/1`),
    TOKEN_EXPIRED: () =>
      speaking(service.anonymous)
        .as(sign({ iss: 'tenantry', aud: 'tenantry', exp: 1 }, JWT.key))
        .get(`${PATH}/1`),
    PERMISSION_REQUIRED: () => as({ permissions: ['dept:read'] }).post(PATH, {}),
    ROLE_REQUIRED: () => as({ roles: ['member'] }).post(PATH, {}),
    TENANT_DELETED: () => as({ tenantId: '555555' }).get(`${PATH}/1`),
    TENANT_DISABLED: async () =>
      as({ tenantId: await aTenantRow(service.dataSource, { status: '1' }) }).get(`${PATH}/1`),
    TENANT_MISMATCH: () => as().post(PATH, { tenantId: '111111' }),
    BAD_CREDENTIALS: () => speaking(service.anonymous).post('/auth/login', { username: 'x', password: 'x' }),
    REFRESH_INVALID: () => speaking(service.anonymous).post('/auth/refresh', { refreshToken: 'x' }),
    INVALID_SCOPE: () =>
      speaking(service.anonymous).post('/auth/login', { username: 'x', password: 'x', scope: 'x' }),
    TOO_MANY_LOGINS: async () => {
      // As many as may be checked (4) and wait for it (50), until the answer is there.
      const hasher = service.app.get(PasswordHasher);
      let isAnswered = false;
      const hashing = Array.from({ length: 54 }, async () => {
        while (!isAnswered) await hasher.hash('x');
      });
      const answer = await speaking(service.anonymous).post('/auth/login', { username: 'x', password: 'x' });
      isAnswered = true;
      await Promise.all(hashing);
      return answer;
    },
    RATE_LIMITED: async () => {
      const api = speaking(limited.as());
      await api.get(`${PATH}/1`);
      return api.get(`${PATH}/1`);
    },
    USER_NOT_FOUND: () => as().get(`${USERS}/777777`),
    USERNAME_TAKEN: () => as().post(USERS, { username: 'admin', password: PASSWORD }),
    DEPT_DISABLED: async () => {
      const deptId = await aDept(as(), { status: '1' });
      return as().post(USERS, { username: 'x', password: PASSWORD, deptId });
    },
    ACCOUNT_LIMIT: async () => {
      const tenantId = await aTenantRow(service.dataSource, { accountCount: 0 });
      return as({ tenantId }).post(USERS, { username: 'x', password: PASSWORD });
    },
    KEY_MISTYPED: () => speaking(service.anonymous).as('tnt_x').get(`${PATH}/1`),
    KEY_INVALID: () => speaking(service.anonymous).as(newKeySecret()).get(`${PATH}/1`),
    SESSION_NOT_FOUND: () => as({ roles: ['superadmin'] }).delete(`${USERS}/1/sessions/x`),
    KEY_NOT_FOUND: () => as().get(`${KEYS}/777777`),
    KEY_NAME_TAKEN: async () => {
      await as().post(KEYS, { name: 'taken', permissions: ['dept:read'] });
      return as().post(KEYS, { name: 'taken', permissions: ['dept:read'] });
    },
    KEY_EXCEEDS_MAKER: () =>
      as().post(KEYS, { name: 'x', permissions: ['dept:read'], roles: ['superadmin'] }),
    KEY_LIMIT: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const post = (name: number) =>
        as({ tenantId }).post(KEYS, { name: `${name}`, permissions: ['dept:read'] });
      for (let left = 100; left > 0; left -= 1) await post(left);
      return post(0);
    },
    WEBHOOK_NOT_FOUND: () => as().get(`${HOOKS}/777777`),
    WEBHOOK_LIMIT: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const post = () => as({ tenantId }).post(HOOKS, { url: 'https://93.184.216.34', status: '1' });
      for (let left = 20; left > 0; left -= 1) await post();
      return post();
    },
    MESSAGE_NOT_FOUND: async () => {
      const { body } = await as().post(HOOKS, { url: 'https://93.184.216.34', status: '1' });
      const { id } = body.data as { id: number };
      return as().post(`${HOOKS}/${id}/deliveries/msg_000000_1_0_${id}/resend`, undefined);
    },
    WEBHOOKS_BUSY: async () => {
      const receiver = await Receiver.start();
      const ends: (() => void)[] = [];
      receiver.answer('/', (response) => ends.push(() => response.end()));
      const { body } = await as().post(HOOKS, { url: receiver.url(), status: '1' });
      const ping = () => as().post(`${HOOKS}/${(body.data as { id: number }).id}/ping`, undefined);
      const hanging = [ping(), ping(), ping(), ping()];
      await until(() => ends.length === 4);
      const answer = await ping();
      for (const end of ends) end();
      await Promise.all(hanging);
      await receiver.stop();
      return answer;
    },
    QUOTA_KIND_UNKNOWN: () => as().post('/system/quota-api/x/use', { key: 'x' }),
    QUOTA_EXCEEDED: async () => {
      const answer = await (await spender()).post(`${RISK}/use`, { key: 'x', amount: 6 });
      expect(answer.refusal.available).toBe(5);
      return answer;
    },
    QUOTA_KEY_REUSED: async () => {
      const api = await spender();
      await api.post(`${RISK}/use`, { key: 'x', amount: 1 });
      return api.post(`${RISK}/use`, { key: 'x', amount: 2 });
    },
    RESERVATION_NOT_FOUND: async () => (await spender()).delete(`${RISK}/reservations/x`),
    RESERVATION_OVER: async () => {
      const api = await spender();
      await api.post(`${RISK}/reservations`, { key: 'x', amount: 1, seconds: 60 });
      await api.delete(`${RISK}/reservations/x`);
      return api.post(`${RISK}/reservations/x/commit`, undefined);
    },
    QUOTA_KEY_NOT_FOUND: async () => (await spender()).post(`${RISK}/refund`, { ofKey: 'x', key: 'y' }),
    REFUND_TOO_LARGE: async () => {
      const api = await spender();
      await api.post(`${RISK}/use`, { key: 'x', amount: 1 });
      return api.post(`${RISK}/refund`, { ofKey: 'x', key: 'y', amount: 2 });
    },
    PACKAGE_EXCEEDS_PARENT: async () => {
      const tenantParent = await aTenantRow(service.dataSource, { menuIds: '1,2' });
      const packageBo = { menuIds: '2,3' };
      return speaking(ceiled.as()).post(TENANTS, { tenantName: 'x', tenantParent, packageBo });
    },
    QUOTA_EXCEEDS_PARENT: async () => {
      const tenantParent = await aTenantWith(service.dataSource, { riskReport: 5 });
      const quotaBo = { riskReport: 6 };
      return speaking(ceiled.as()).post(TENANTS, { tenantName: 'x', tenantParent, quotaBo });
    },
    LAST_SUPERADMIN: () => as({ roles: ['superadmin'] }).delete(`${USERS}/1`),
    OUTSIDE_MANAGED_DEPTS: () => as({ roles: ['dept_admin'], managedDeptIds: [1] }).post(PATH, {}),
    OUTSIDE_DATA_SCOPE: () =>
      as({ dataScope: [{ kind: 'own' }] }).post(USERS, { username: 'beyond', password: PASSWORD }),
    ROLE_TOO_HIGH: () => as().delete(`${USERS}/1`),
    WRONG_PASSWORD: async () => {
      const tokens = await service.anonymous.post('/auth/login', {
        username: 'admin',
        password: 'admin-password',
      });
      const { accessToken } = tokens.body.data as { accessToken: string };
      return speaking(service.anonymous.as(accessToken)).put(`${USERS}/password`, { newPassword: PASSWORD });
    },
    TENANT_NOT_STARTED: async () => {
      const tenantId = await aTenantRow(service.dataSource, { startTime: '9999-01-01' });
      return as({ tenantId }).get(`${PATH}/1`);
    },
    TENANT_EXPIRED: async () => {
      const tenantId = await aTenantRow(service.dataSource, { endTime: '2000-01-01' });
      return as({ tenantId }).get(`${PATH}/1`);
    },
    TENANT_NOT_FOUND: () => as().get(`${TENANTS}/777`),
    PARENT_TENANT_NOT_FOUND: () => as().post(TENANTS, { tenantName: 'x', tenantParent: '777' }),
    'PARENT_TENANT_NOT_FOUND 409': async () => {
      const { id } = await aTenant(as());
      await as().delete(`${TENANTS}/${id}`);
      return as().post(`${TENANTS}/${id}/restore`, { tenantParent: '777' });
    },
    OWN_TENANT: () => as().delete(`${TENANTS}/1`),
    TENANT_CYCLE: async () => {
      const { id, tenantId } = await aTenant(as());
      return as().put(TENANTS, { id, tenantName: 'x', tenantParent: tenantId });
    },
    TENANT_HAS_CHILDREN: async () => {
      const { id, tenantId } = await aTenant(as());
      await aTenant(as(), { tenantParent: tenantId });
      return as().delete(`${TENANTS}/${id}`);
    },
    TENANT_TOO_DEEP: async () => {
      await breakOnPurpose(service.database);
      const tenantParent = await aTenantRow(service.dataSource, { depth: 64 });
      return as().post(TENANTS, { tenantName: 'x', tenantParent });
    },
    DEPT_NOT_FOUND: () => as().get(`${PATH}/777777`),
    PARENT_NOT_FOUND: () => as().post(PATH, { parentId: 777_777 }),
    'PARENT_NOT_FOUND 409': async () => {
      const deptId = await aDept(as());
      await as().delete(`${PATH}/${deptId}`);
      return as().post(`${PATH}/${deptId}/restore`, { parentId: 777_777 });
    },
    DEPT_SUBTREE_TOO_LARGE: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const top = await aDept(as({ tenantId }));
      const below = { tenantId, parentId: top, ancestors: `0,${top}`, depth: 2 };
      await deptRows(service.dataSource, 10_000, () => below);
      return as({ tenantId }).delete(`${PATH}/${top}?subtree=true`);
    },
    DEPT_CHART_TOO_LARGE: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const place = { tenantId, parentId: 0, ancestors: '0', depth: 1 };
      await deptRows(service.dataSource, 1001, () => place);
      return as({ tenantId }).get(`${PATH}/tree`, { accept: 'image/svg+xml' });
    },
    NOT_DELETED: async () => as().post(`${PATH}/${await aDept(as())}/restore`, {}),
    HISTORY_GONE: async () => {
      const tenantId = await aTenantRow(service.dataSource, { treeVersion: '9' });
      const begun = { kind: 'journal', operation: 'begun', resourceId: tenantId, by: 'system' } as const;
      const entry = { ...begun, version: 9, seq: 0, prev: 9, fields: '{}', happenedAt: new Date() };
      await service.dataSource.manager.insert(TenantryChange, { ...entry, tenantId, lineage: null });
      return as({ tenantId }).get(`${PATH}/tree?asOf=1`);
    },
    HISTORY_TOO_LONG: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      for (let n = 0; n < 3; n += 1) await aDept(service.as({ tenantId }));
      const few = jest.replaceProperty(HISTORY_LIMITS, 'most', 1);
      const answer = await as({ tenantId }).get(`${PATH}/tree?asOf=1`);
      few.restore();
      return answer;
    },
    TOO_MANY_HISTORY_READS: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      for (let n = 0; n < 3; n += 1) await aDept(service.as({ tenantId }));
      const limits = [
        jest.replaceProperty(HISTORY_LIMITS, 'short', 0),
        jest.replaceProperty(LONG_READS, 'inWork', 0),
        jest.replaceProperty(LONG_READS, 'waiting', 0),
      ];
      const answer = await as({ tenantId }).get(`${PATH}/tree?asOf=1`);
      for (const limit of limits) limit.restore();
      return answer;
    },
    CURSOR_GONE: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const after = await cursorNow(service.as({ tenantId }));
      for (let n = 0; n < 2; n += 1) await aDept(service.as({ tenantId }));
      await service.dataSource.manager.delete(TenantryChange, { tenantId, version: 1 });
      return as({ tenantId }).get(`${CHANGES}?after=${after}`);
    },
    TOO_MANY_FOLLOWERS: async () => {
      const tenantId = await aTenantRow(service.dataSource);
      const gone = new AbortController();
      const idle = { ...NOT_A_REQUEST, signal: gone.signal };
      const waiters = service.app.get(ChangeWaiters, { strict: false });
      const read = () => Promise.resolve({ rows: [], nextCursor: null, hasMore: false });
      const follower = { ctx: { topTenantId: tenantId }, topics: [], name: '', read };
      const waiting = Array.from({ length: 100 }, () => waiters.until(follower, 25_000, idle));
      const answer = await as({ tenantId }).get(`${CHANGES}?wait=1`);
      gone.abort();
      await Promise.all(waiting);
      return answer;
    },
    PARENT_DISABLED: async () => as().post(PATH, { parentId: await aDept(as(), { status: '1' }) }),
    DEPT_CYCLE: async () => {
      const deptId = await aDept(as());
      return as().put(PATH, { deptId, parentId: deptId });
    },
    DEPT_NOT_A_CHILD: async () => {
      const parentId = await aDept(as());
      return as().put(`${PATH}/order`, { deptIds: [await aDept(as(), { parentId })] });
    },
    STALE: async () => as().delete(`${PATH}/${await aDept(as())}`, { 'if-match': '"99"' }),
    NOT_ACCEPTABLE: () => as().get(`${PATH}/export`, { accept: 'image/png' }),
    TOO_MANY_IMPORTS: async () => {
      const body = new PassThrough();
      const first = service.app
        .get(DeptTransferService, { strict: false })
        .import(RequestContext.system('000000'), { format: FORMATS[0]!, body, language: 'en' });
      const answer = await as().send('POST', `${PATH}/import`, '', { 'content-type': 'text/csv' });
      body.end();
      await first;
      return answer;
    },
    TOO_MANY_EXPORTS: async () => {
      await aDept(as());
      const pages = service.app
        .get(DeptTransferService, { strict: false })
        .export(RequestContext.system('000000'));
      await pages.next();
      const answer = await as().get(`${PATH}/export`);
      await pages.return();
      return answer;
    },
    IDEMPOTENCY_KEY_REUSED: async () => {
      const headers = { 'idempotency-key': String(Math.random()) };
      await as().post(PATH, { deptName: 'a' }, headers);
      return as().post(PATH, { deptName: 'b' }, headers);
    },
    DEPT_HAS_CHILDREN: async () => {
      const parentId = await aDept(as());
      await aDept(as(), { parentId });
      return as().delete(`${PATH}/${parentId}`);
    },
    DEPT_HAS_USERS: async () => {
      const deptId = await aDept(as());
      await anAccount(service.dataSource, { tenantId: '000000', deptId });
      return as().delete(`${PATH}/${deptId}`);
    },
    DEPT_TOO_DEEP: async () => {
      let parentId = 0;
      for (let depth = 0; depth < 64; depth += 1) parentId = await aDept(as(), { parentId });
      return as().post(PATH, { parentId });
    },
  };

  it('the catalogue of refusals has each of its rows provoked, with its status, in both languages', async () => {
    const rows = (await catalogue()).filter(({ reason }) => !OF_HOSTS.includes(reason));
    const keyOf = ({ reason, status }: ErrorRow) =>
      `${reason} ${status}` in provoke ? `${reason} ${status}` : reason;
    expect(rows.map(keyOf).sort()).toEqual(Object.keys(provoke).sort());
    for (const row of rows) {
      const { reason, status, zh, en } = row;
      const provoked = provoke[keyOf(row)]!;
      const answer = await provoked();
      expect([answer.status, answer.body.code, answer.refusal.reason]).toEqual([status, status, reason]);
      expect(answer.body.msg).toBe(zh);
      expect(en).toMatch(/^[ -~]+$/);
      if (beforeLanguage.has(reason)) continue;
      english = true;
      expect((await provoked()).body.msg).toBe(en);
      english = false;
    }
  });

  it('the catalogue of refusals is the table in docs/api.md', async () => {
    const guide = readFileSync(join(SRC, '..', 'docs', 'api.md'), 'utf8');
    const told = [...guide.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map(
      ([, reason, status]) => `${reason!} ${status!}`,
    );
    expect(told.sort()).toEqual(
      (await catalogue()).map(({ reason, status }) => `${reason} ${status}`).sort(),
    );
  });

  const spender = async () => as({ tenantId: await aTenantWith(service.dataSource, { riskReport: 5 }) });

  async function crowdedOut(): Promise<Answer> {
    const empty = await house.fill();
    const answer = await speaking(house.api).get(house.path);
    await empty();
    return answer;
  }

  /** Another transaction holds the tenant for longer than a write waits. */
  async function whileLocked(): Promise<Answer> {
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query("UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = '000000'");
    const answer = await as().post(PATH, {});
    await runner.rollbackTransaction();
    await runner.release();
    return answer;
  }

  /** A request whose head never ends; Node looks for such ones every second. */
  async function timedOut(): Promise<Answer> {
    const server = service.app.getHttpServer();
    const { headersTimeout } = server;
    server.headersTimeout = 100;
    const { hostname, port } = new URL(service.anonymous.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    server.headersTimeout = headersTimeout;
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Answer['body'];
    const refusal = body.data as Answer['refusal'];
    return { status: Number(text.split(' ', 2)[1]), headers: {}, text, body, refusal };
  }
});
