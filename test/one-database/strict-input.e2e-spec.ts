import { TenantryModule } from '../../src/index';
import { aDept, aTenant, type ApiClient } from '../../src/server/testing';
import { HeaderResolver, Host } from '../support/host';
import { deptRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DEPTS = '/system/dept-api';
const TENANTS = '/system/tenant-api';
const USERS = '/system/user-api';
const HOOKS = '/system/webhook-api';
const STRICT = { prefer: 'handling=strict', 'accept-language': 'en' };
const NDJSON = { 'content-type': 'application/x-ndjson' };
const CSV = { 'content-type': 'text/csv' };

type Fields = Record<string, unknown>;

describe('names that an operation does not know', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;
  let strict: ApiClient;

  beforeAll(() => {
    api = service.as({ roles: ['superadmin'] });
    strict = api.with(STRICT);
  });

  const namesIn = async (client: ApiClient, filter: string) =>
    ((await client.get(`${DEPTS}?${filter}`)).body.data as { rows: { deptName: string }[] }).rows;

  it('unknown names are ignored and named in a header', async () => {
    const made = await api.post(`${DEPTS}?dryrun=true`, { deptname: 'Sales', deptName: 'x', leadr: '张三' });
    expect([made.status, made.headers['x-ignored-fields']]).toEqual([200, 'dryrun, deptname, leadr']);
    expect(made.headers).not.toHaveProperty('preference-applied');
    const nested = await api.post(TENANTS, {
      tenantName: 'x',
      packageBo: { menuids: '1' },
      quotaBo: { a: 1 },
    });
    expect(nested.headers['x-ignored-fields']).toBe('packageBo.menuids, quotaBo.a');
    expect((await api.get(`${DEPTS}?limit=1`)).headers).not.toHaveProperty('x-ignored-fields');
  });

  it('unknown names are refused with handling=strict, each with the nearest known name, and nothing is written', async () => {
    const before = await namesIn(api, 'limit=500');
    const refused = await strict.post(DEPTS, { deptname: 'Sales', leadr: 'x', colour: 'x', orderNum: 'x' });
    expect([refused.status, refused.refusal.reason]).toEqual([400, 'INVALID_INPUT']);
    expect(refused.refusal.fields).toEqual([
      { field: 'deptname', message: 'is not known here; did you mean deptName?' },
      { field: 'leadr', message: 'is not known here; did you mean leader?' },
      { field: 'colour', message: 'is not known here' },
    ]);
    expect(refused.headers['preference-applied']).toBe('handling=strict');
    expect(refused.headers).not.toHaveProperty('x-ignored-fields');
    expect(await namesIn(api, 'limit=500')).toEqual(before);
  });

  it.each([
    [
      'a field of an object',
      'POST',
      TENANTS,
      { tenantName: 'x', ruleBo: { modelzr: 'x' } },
      'ruleBo.modelZr',
    ],
    ['a parameter', 'GET', `${TENANTS}?tenantid=100001`, undefined, 'tenantId'],
    ['a parameter of an operation without any', 'GET', `${DEPTS}/1/ancestors?x=1`, undefined, ''],
    ['a body of a patch', 'PATCH', `${DEPTS}/1`, { stauts: '1' }, 'status'],
    ['a body that may be left out', 'POST', `${DEPTS}/1/restore`, { parentID: 1 }, 'parentId'],
    ['an account', 'POST', USERS, { username: 'x', password: 'a-long-password', rolls: [] }, 'roles'],
    ['an account that is replaced', 'PUT', USERS, { userId: 1, username: 'x', passwords: 'x' }, ''],
    ['a webhook', 'POST', HOOKS, { url: 'https://93.184.216.34', kind: ['dept'] }, 'kinds'],
    ['a quota', 'POST', '/system/quota-api/riskReport/use', { key: 'x', amuont: 2 }, 'amount'],
    ['the feed', 'GET', '/system/change-api?cursor=now', undefined, ''],
    ['a sign-in', 'POST', '/auth/login', { username: 'x', password: 'x', tenantID: '1' }, 'tenantId'],
  ])('unknown names are refused in %s', async (_, method, path, body, near) => {
    const { status, refusal } = await strict.send(method, path, body);
    expect([status, refusal.reason, refusal.fields?.length]).toEqual([400, 'INVALID_INPUT', 1]);
    const message = near === '' ? 'is not known here' : `is not known here; did you mean ${near}?`;
    expect(refusal.fields![0]!.message).toBe(message);
  });

  it('unknown names are told in Chinese, too', async () => {
    const { refusal } = await api.post(DEPTS, { deptname: 'x' }, { prefer: 'handling=strict' });
    expect(refusal.fields).toEqual([{ field: 'deptname', message: '未知的字段或参数，是否为 deptName？' }]);
  });

  it('fields of what was read are known: it can be sent back', async () => {
    const deptId = await aDept(api, { deptName: 'a' });
    const { id } = await aTenant(api);
    const user = await api.post(USERS, { username: 'back', password: 'a-long-password' });
    const hook = await api.post(HOOKS, { url: 'https://93.184.216.34', status: '1' });
    const rowOf = async (list: string, key: string, value: unknown) => {
      const { rows } = (await api.get(`${list}?limit=500`)).body.data as { rows: Fields[] };
      return rows.find((row) => row[key] === value)!;
    };
    const tree = (await api.get(`${DEPTS}/tree?rootId=${deptId}`)).body.data as { rows: Fields[] };
    const read = async (path: string) => (await api.get(path)).body.data as Fields;
    for (const [path, body] of [
      [DEPTS, await read(`${DEPTS}/${deptId}`)],
      [DEPTS, await rowOf(DEPTS, 'deptId', deptId)],
      [DEPTS, tree.rows[0]!],
      [TENANTS, await read(`${TENANTS}/${id}`)],
      [TENANTS, await rowOf(TENANTS, 'id', id)],
      [USERS, await read(user.headers.location!)],
      [HOOKS, await read(hook.headers.location!)],
    ] as const) {
      const answer = await strict.put(path, body);
      expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
      expect(answer.headers).not.toHaveProperty('x-ignored-fields');
    }
    const patched = await strict.patch(`${TENANTS}/${id}`, await read(`${TENANTS}/${id}`));
    expect(patched.status).toBe(200);
    expect((await strict.post(DEPTS, await read(`${DEPTS}/${deptId}`))).status).toBe(200);
  });

  it('unknown names are many and odd, and neither the header nor the refusal grows beyond a bound', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`字段 ${n}, "x"\r\n`, 1]));
    const lenient = await api.post(DEPTS, { ...many, ['__proto__']: 1, ['x'.repeat(5000)]: 1 });
    const header = String(lenient.headers['x-ignored-fields']);
    expect(header).toMatch(/^[A-Za-z0-9%_.!~*'(), -]{1,1000}$/);
    expect(decodeURIComponent(header.split(', ')[0]!)).toBe('字段 0, "x"\r\n');
    const refused = await strict.post(DEPTS, many);
    expect([refused.status, refused.refusal.fields?.length]).toEqual([400, 20]);
    expect((await api.post(DEPTS, '{"\\ud800":1,"constructor":1}')).headers['x-ignored-fields']).toBe(
      '%EF%BF%BD, constructor',
    );
  });

  it.each([
    ['handling=strict', 400],
    ['HANDLING = "Strict" ; x=1', 400],
    ['respond-async, handling=strict', 400],
    ['handling=strict, handling=lenient', 400],
    ['handling=lenient, handling=strict', 200],
    ['handling=strictly', 200],
    ['return=minimal', 200],
    ['', 200],
  ])('unknown names are judged by the first handling of Prefer: %s', async (prefer, status) => {
    expect((await api.get(`${DEPTS}?x=1`, { prefer })).status).toBe(status);
  });

  it('unknown names are ignored by the token endpoint, as RFC 6749 wants it, and by the page of the service', async () => {
    const grant = { grant_type: 'password', username: 'admin', password: 'admin-password', audience: 'x' };
    const signedIn = await service.anonymous.with(STRICT).post('/auth/token', grant);
    expect(signedIn.status).toBe(200);
    expect((await service.anonymous.with(STRICT).get('/?x=1')).status).toBe(200);
  });

  describe('unknown names in a file', () => {
    it('unknown columns of a file are told in the header or refused with their line', async () => {
      const file = 'path,leadr,deptId\r\ncolumns,x,1\r\n';
      const ignored = await api.post(`${DEPTS}/import`, file, CSV);
      expect([ignored.status, ignored.headers['x-ignored-fields']]).toEqual([200, 'leadr']);
      const { status, refusal } = await strict.post(`${DEPTS}/import`, file, CSV);
      expect([status, refusal.fields]).toEqual([
        400,
        [{ line: 1, field: 'leadr', message: 'is not known here; did you mean leader?' }],
      ]);
    });

    it('unknown keys of lines of a file are told in the header or refused', async () => {
      const file = '{"path":"keys","oderNum":1,"parentId":0}\n{"path":"keys2","oderNum":1}\n';
      const ignored = await api.post(`${DEPTS}/import`, file, NDJSON);
      expect([ignored.status, ignored.headers['x-ignored-fields']]).toEqual([200, 'oderNum']);
      const { refusal } = await strict.post(`${DEPTS}/import?dryRun=true`, file, NDJSON);
      expect(refusal).toMatchObject({ refused: 2 });
      const exported = await api.get(`${DEPTS}/export?ids=true`);
      const back = await strict.post(`${DEPTS}/import`, exported.text, NDJSON);
      expect([back.status, back.headers['x-ignored-fields']]).toEqual([200, undefined]);
    });
  });

  it('unknown names are refused by default with STRICT_INPUT=on, unless the caller prefers otherwise', async () => {
    const closed = await ServiceUnderTest.on(service.database, { STRICT_INPUT: 'on' });
    const { status, headers } = await closed.as().post(DEPTS, { deptname: 'x' });
    expect([status, headers['preference-applied']]).toEqual([400, undefined]);
    const lenient = await closed.as().post(DEPTS, { deptname: 'x' }, { prefer: 'handling=lenient' });
    expect([lenient.status, lenient.headers['preference-applied']]).toEqual([200, 'handling=lenient']);
    await closed.leave();
  });

  it.each([
    [undefined, 200],
    [true, 400],
  ])('unknown names are what a host makes of them with strictInput: %s', async (strictInput, status) => {
    const given = { principalResolver: new HeaderResolver(), userDirectory: 'none' } as const;
    const host = await Host.start({
      imports: [TenantryModule.forRoot({ ...given, ...(strictInput && { strictInput }) })],
    });
    const answer = await host.as().post(DEPTS, { deptname: 'x' });
    expect(answer.status).toBe(status);
    const refused = await host.as().post(DEPTS, { deptname: 'x' }, STRICT);
    expect([refused.status, refused.headers['preference-applied']]).toEqual([400, 'handling=strict']);
    const deptId = await aDept(host.as(), { deptName: 'a' });
    expect(await deptRow(host.dataSource, deptId)).toMatchObject({ deptName: 'a' });
    await host.stop();
  });
});
