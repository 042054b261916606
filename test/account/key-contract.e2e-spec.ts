import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { sign } from 'jsonwebtoken';
import { KeyEntity } from '../../src/server/auth/account.entity';
import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { changePage } from '../support/follower';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { expectInvalid, expectRefused } from '../support/refusals';
import { JWT, ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';
import { resendWhenBusy } from '../support/when-busy';

const PATH = '/system/key-api';
const DEPTS = '/system/dept-api';
const READ = { permissions: ['dept:read'] };

interface Made {
  readonly id: number;
  readonly secret: string;
}

describe('keys', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({}, clock);
  let tenantId: string;
  let api: ApiClient;
  let made = 0;

  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(service, { username: 'alice' }));
  });

  const make = async (fields: object = {}, by = api): Promise<Made> => {
    const answer = await by.post(PATH, { name: `key ${(made += 1)}`, ...READ, ...fields });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body.data as Made;
  };
  const read = async (id: number) => (await api.get(`${PATH}/${id}`)).body.data as Record<string, unknown>;
  const row = (keyId: number) => service.dataSource.manager.findOneByOrFail(KeyEntity, { keyId });
  const withKey = ({ secret }: Made) => service.anonymous.as(secret);
  const reasonOf = async (answer: Promise<Answer>) => {
    const { status, refusal } = await answer;
    return status === 200 ? '200' : `${status} ${refusal.reason}`;
  };
  /** Of a caller whose token says what it is limited to. */
  const limited = (claims: object) => {
    const who = { sub: 'u1', tenantId, username: 'bob', roles: ['tenant_admin'], ...claims };
    const { key, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = JWT;
    return service.anonymous.as(sign(who, key, { expiresIn: 600, issuer, audience }));
  };

  it('a key is created with defaults, and its secret is shown once and kept as a hash', async () => {
    const answer = await api.post(PATH, { name: ' nightly ', ...READ });
    const { id, secret } = answer.body.data as Made;
    expect(answer.headers.location).toBe(`${PATH}/${id}`);
    expect(secret).toMatch(/^tnt_[\w-]{43}[0-9A-Za-z]{6}$/);
    const digits = Array.from(secret.slice(-6), parseInt62);
    expect(digits.reduce((sum, digit) => sum * 62 + digit, 0)).toBe(crc32(secret.slice(0, -6)));
    const view = await api.get(answer.headers.location!);
    expect(view.body.data).toEqual({
      ...{ keyId: id, name: 'nightly', roles: ['member'], permissions: ['dept:read'] },
      ...{ managedDeptIds: [], dataScope: 'all', scopeDeptIds: [], endTime: null, lastUsedTime: null },
      ...{ status: '0', tenantId, createBy: 'alice', updateBy: '', updateTime: null },
      createTime: expect.stringMatching(/^\d{4}-/) as string,
    });
    expect(view.headers.etag).toBe(answer.headers.etag);
    expect((await row(id)).secretHash).toBe(createHash('sha256').update(secret).digest('hex'));
  });

  it('a key goes where a token goes, for its roles and permissions, and what it does is done by its name', async () => {
    const key = await make({
      ...{ name: 'builder', roles: ['tenant_admin'] },
      permissions: ['dept:write', 'dept:read', 'dept:write'],
    });
    expect((await read(key.id)).permissions).toEqual(['dept:read', 'dept:write']);
    const deptId = await aDept(withKey(key));
    const { createBy } = (await api.get(`${DEPTS}/${deptId}`)).body.data as { createBy: string };
    expect(createBy).toBe('key:builder');
    const refused = await withKey(key).get('/system/user-api');
    expectRefused(refused, 403, 'PERMISSION_REQUIRED');
    const reader = await make({ permissions: ['dept:write'] });
    expectRefused(await withKey(reader).post(DEPTS, {}), 403, 'ROLE_REQUIRED');
    expect((await withKey(reader).get('/auth/me')).body.data).toMatchObject({
      ...{ userId: null, username: `key:${(await row(reader.id)).name}`, roles: ['member'], tenantId },
    });
  });

  it('a repeated create makes one key, and tells no secret the second time', async () => {
    const body = { name: 'once', ...READ };
    const headers = { 'idempotency-key': 'k1' };
    const [first, second] = [await api.post(PATH, body, headers), await api.post(PATH, body, headers)];
    const { id, secret } = first.body.data as Made;
    expect([secret.slice(0, 4), second.body.data]).toEqual(['tnt_', { id }]);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expectRefused(await api.post(PATH, { ...body, name: 'other' }, headers), 422, 'IDEMPOTENCY_KEY_REUSED');
  });

  it('a key is replaced whole or changed in part, and keeps its secret', async () => {
    const deptId = await aDept(api);
    const full = {
      ...{ roles: ['dept_admin', 'member'], permissions: ['dept:read', 'dept:write'], status: '1' },
      ...{ managedDeptIds: [deptId], dataScope: 'custom', scopeDeptIds: [deptId] },
      endTime: '2099-12-31 23:59:59',
    };
    const { id } = await make({ name: 'a', ...full });
    const { secretHash } = await row(id);
    expect(await read(id)).toMatchObject(full);
    expect(await reasonOf(api.patch(`${PATH}/${id}`, { status: '0', endTime: null }))).toBe('200');
    expect(await read(id)).toMatchObject({ ...full, status: '0', endTime: null, updateBy: 'alice' });
    const put = await api.put(PATH, { keyId: id, name: 'b', ...READ });
    expect([put.status, put.body.data]).toEqual([200, null]);
    expect(await read(id)).toMatchObject({
      ...{ name: 'b', roles: ['member'], permissions: ['dept:read'], managedDeptIds: [] },
      ...{ dataScope: 'all', scopeDeptIds: [], endTime: null, status: '0' },
    });
    expect((await row(id)).secretHash).toBe(secretHash);
    const stale = { 'if-match': '"0"' };
    expectRefused(await api.patch(`${PATH}/${id}`, { name: 'c' }, stale), 412, 'STALE');
    expectRefused(await api.delete(`${PATH}/${id}`, stale), 412, 'STALE');
    expectInvalid(await api.patch(`${PATH}/${id}`, { keyId: id + 1 }), 'keyId');
    expectRefused(await api.patch(`${PATH}/999999`, {}), 404, 'KEY_NOT_FOUND');
    expectRefused(await api.put(PATH, { keyId: 999_999, name: 'x', ...READ }), 404, 'KEY_NOT_FOUND');
  });

  it('a key that is sent back as it was read stays as it was, also after its end, and the journal has the same times', async () => {
    const end = new Date(Date.now() + 1500).toISOString();
    const { id } = await make({ name: 'short', endTime: end });
    const { lastUsedTime: _, createBy, createTime, updateBy, updateTime, ...fields } = await read(id);
    expect([createBy, updateBy, updateTime]).toEqual(['alice', '', null]);
    const sendBack = () => api.put(PATH, fields);
    expect(await reasonOf(sendBack())).toBe('200');
    await until(() => Promise.resolve(Date.now() > Date.parse(end)));
    expect(await reasonOf(sendBack())).toBe('200');
    expect(await read(id)).toMatchObject(fields);
    const { body } = await api.get(`${PATH}/${id}/history`);
    const changes = (body.data as { rows: { after: Record<string, unknown> }[] }).rows.map(
      ({ after }) => after,
    );
    expect(changes.at(-1)).toMatchObject({ endTime: fields.endTime, createTime });
    for (const after of changes.slice(0, -1)) expect(after).not.toHaveProperty('endTime');
  });

  it('names of keys are unique in their tenant while they live', async () => {
    const { id } = await make({ name: 'same' });
    const other = await make({ name: 'Same' });
    expectRefused(await api.post(PATH, { name: 'same', ...READ }), 409, 'KEY_NAME_TAKEN');
    expectRefused(await api.patch(`${PATH}/${other.id}`, { name: 'same' }), 409, 'KEY_NAME_TAKEN');
    const { api: elsewhere } = await freshTenant(service);
    await make({ name: 'same' }, elsewhere);
    expect(await reasonOf(api.delete(`${PATH}/${id}`))).toBe('200');
    await make({ name: 'same' });
    expectRefused(await api.get(`${PATH}/${id}`), 404, 'KEY_NOT_FOUND');
  });

  it('a name of 60 emoji is a good name, and its key works', async () => {
    const key = await make({ name: '🔑'.repeat(60), roles: ['tenant_admin'], permissions: ['dept:write'] });
    expect(await reasonOf(withKey(key).post(DEPTS, {}))).toBe('200');
  });

  it('keys refuse wrong fields by name, and change nothing', async () => {
    const wrong = {
      name: [undefined, ' ', 'a'.repeat(61), 5, 'in\u200bvisible'],
      permissions: [undefined, null, [], 'dept:read', ['dept:fly'], ['DEPT:READ'], [5], [['dept:read']]],
      roles: ['member', ['root']],
      dataScope: ['dept', 'deptAndBelow', 'x', 5],
      scopeDeptIds: [[1], ['x']],
      managedDeptIds: [[1], 'x', Array.from({ length: 51 }, (_, n) => n + 1)],
      endTime: ['2000-01-01', 'tomorrow', '2099-02-30', 5, '2099-12-31T25:00:00Z'],
      status: ['2'],
    };
    for (const [field, values] of Object.entries(wrong))
      for (const value of values)
        expectInvalid(await api.post(PATH, { name: 'x', ...READ, [field]: value }), field, value);
    expectInvalid(await api.post(PATH, { name: 'x', ...READ, dataScope: 'custom' }), 'scopeDeptIds');
    expectInvalid(await api.post(PATH, { name: 'x', ...READ, roles: ['dept_admin'] }), 'managedDeptIds');
    expectRefused(await api.post(PATH, { name: 'x', ...READ, tenantId: '000000' }), 403, 'TENANT_MISMATCH');
    expect((await api.get(PATH)).body.data).toMatchObject({ rows: [] });
  });

  it('a key names departments of its tenant alone; one that is deleted later may stay', async () => {
    const [deptId, deleted] = [await aDept(api), await aDept(api)];
    const foreign = await aDept((await freshTenant(service)).api);
    await api.delete(`${DEPTS}/${deleted}`);
    const custom = (scopeDeptIds: number[]) => ({ dataScope: 'custom', scopeDeptIds });
    const ids = [foreign, deleted].sort((a, b) => a - b);
    const answer = await api.post(PATH, { name: 'x', ...READ, ...custom([deptId, foreign, deleted]) });
    expectRefused(answer, 404, 'DEPT_NOT_FOUND', { ids });
    const { id } = await make({ roles: ['dept_admin'], managedDeptIds: [deptId, deptId] });
    expect((await read(id)).managedDeptIds).toEqual([deptId]);
    const more = await api.patch(`${PATH}/${id}`, { managedDeptIds: [foreign] });
    expectRefused(more, 404, 'DEPT_NOT_FOUND', { ids: [foreign] });
    await api.delete(`${DEPTS}/${deptId}`);
    expect(await reasonOf(api.patch(`${PATH}/${id}`, { status: '1' }))).toBe('200');
    // Until then the doctor notes what dangles.
    expect(await reasonOf(api.patch(`${PATH}/${id}`, { roles: null, managedDeptIds: null }))).toBe('200');
  });

  it('nobody gives, changes or deletes a key that can do more than they can', async () => {
    const [deptId, other] = [await aDept(api), await aDept(api)];
    const root = service.as({ roles: ['superadmin'] });
    const post = (by: ApiClient, fields: object) =>
      reasonOf(by.post(PATH, { name: `m${(made += 1)}`, ...READ, ...fields }));
    const TOO_MUCH = '403 KEY_EXCEEDS_MAKER';
    expect(await post(api, { roles: ['superadmin'] })).toBe(TOO_MUCH);
    expect(await post(service.as({ roles: ['tenant_admin'] }), { roles: ['superadmin'] })).toBe(TOO_MUCH);
    expect(await post(root, { roles: ['superadmin'] })).toBe('200');

    const scoped = limited({ scope: 'key:write dept:read' });
    expect(await post(scoped, { permissions: ['dept:write'] })).toBe(TOO_MUCH);
    expect(await post(scoped, {})).toBe('200');

    const part = limited({ dataScope: [{ kind: 'depts', deptIds: [deptId], below: true }] });
    const below = await aDept(api, { parentId: deptId });
    const custom = (...scopeDeptIds: number[]) => ({ dataScope: 'custom', scopeDeptIds });
    expect(await post(part, {})).toBe(TOO_MUCH);
    expect(await post(part, custom(deptId, other))).toBe(TOO_MUCH);
    expect(await post(part, custom(deptId, below))).toBe('200');
    expect(await post(part, { dataScope: 'own' })).toBe('200');

    const above = await make({ permissions: ['user:read'] });
    for (const by of [scoped, part]) {
      expect(await reasonOf(by.patch(`${PATH}/${above.id}`, { permissions: ['dept:read'] }))).toBe(TOO_MUCH);
      expect(await reasonOf(by.put(PATH, { keyId: above.id, name: 'x', ...READ }))).toBe(TOO_MUCH);
      expect(await reasonOf(by.delete(`${PATH}/${above.id}`))).toBe(TOO_MUCH);
    }
    const key = withKey(await make({ roles: ['tenant_admin'], permissions: ['key:write', 'dept:read'] }));
    expect(await post(key, {})).toBe('200');
    expect(await post(key, { permissions: ['user:read'] })).toBe(TOO_MUCH);
  });

  it('a key that is disabled, deleted or past its end is refused at once, and an enabled one is good again', async () => {
    const key = await make({ endTime: '2099-01-01' });
    const me = () => reasonOf(withKey(key).get('/auth/me'));
    expect(await me()).toBe('200');
    await api.patch(`${PATH}/${key.id}`, { status: '1' });
    const refused = await withKey(key).get('/auth/me');
    expectRefused(refused, 401, 'KEY_INVALID');
    expect(refused.headers['www-authenticate']).toBe('Bearer');
    await api.patch(`${PATH}/${key.id}`, { status: '0' });
    expect(await me()).toBe('200');
    const end = new Date(clock.now().getTime() + 5000).toISOString();
    await api.patch(`${PATH}/${key.id}`, { endTime: end });
    expect(await me()).toBe('200');
    clock.pass(6000);
    expect(await me()).toBe('401 KEY_INVALID');
    // An end that has passed may stay while something else is changed.
    expect(await reasonOf(api.patch(`${PATH}/${key.id}`, { name: 'ended' }))).toBe('200');
    await api.patch(`${PATH}/${key.id}`, { endTime: null });
    expect(await me()).toBe('200');
    await api.delete(`${PATH}/${key.id}`);
    expect(await me()).toBe('401 KEY_INVALID');
  });

  it('a key of a tenant that is disabled is refused as its tokens are', async () => {
    const key = await make();
    expect(await reasonOf(withKey(key).get('/auth/me'))).toBe('200');
    const root = service.as({ roles: ['superadmin'] });
    const list = await root.get(`/system/tenant-api?tenantId=${tenantId}`);
    const { rows } = list.body.data as { rows: { id: string }[] };
    await root.patch(`/system/tenant-api/${rows[0]!.id}`, { status: '1' });
    expect(await reasonOf(withKey(key).get('/auth/me'))).toBe('403 TENANT_DISABLED');
  });

  it('the last use of a key is told to the minute, and changes nothing else of it', async () => {
    const key = await make();
    const { revision } = await row(key.id);
    const lastUsed = async () => (await row(key.id)).lastUsedTime?.getTime() ?? 0;
    const minuteOf = (time: number) => Math.floor(time / 60_000) * 60_000;
    const before = clock.now().getTime();
    for (let n = 0; n < 3; n += 1) await withKey(key).get('/auth/me');
    await until(async () => (await lastUsed()) > 0);
    expect([minuteOf(before), minuteOf(clock.now().getTime())]).toContain(await lastUsed());
    clock.pass(61_000);
    await withKey(key).get('/auth/me');
    await until(async () => (await lastUsed()) > before);
    expect(await row(key.id)).toMatchObject({ revision, updateBy: '', updateTime: null });
    expect((await read(key.id)).lastUsedTime).toMatch(/:00$/);
    const history = (await api.get(`${PATH}/${key.id}/history`)).body.data as { rows: unknown[] };
    expect(history.rows).toHaveLength(1);
  });

  it('the journal tells who made, changed and deleted a key, and never its hash', async () => {
    const key = await make({ name: 'told', endTime: '2099-01-01' });
    const { secretHash } = await row(key.id);
    await api.patch(`${PATH}/${key.id}`, { name: 'renamed' });
    await api.delete(`${PATH}/${key.id}`);
    const history = await api.get(`${PATH}/${key.id}/history`);
    const { rows } = history.body.data as { rows: { operation: string; by: string }[] };
    expect(rows.map(({ operation, by }) => `${operation} ${by}`)).toEqual([
      'deleted alice',
      'updated alice',
      'created alice',
    ]);
    const page = await changePage(api, { kinds: 'key' });
    expect(page.rows.map(({ kind, id }) => [kind, id])).toEqual([1, 2, 3].map(() => ['key', key.id]));
    const all = history.text + JSON.stringify(page);
    for (const secret of [secretHash, key.secret]) expect(all).not.toContain(secret);
    expectRefused(await api.get(`${PATH}/888888/history`), 404, 'KEY_NOT_FOUND');
  });

  it('keys are listed page by page, and several are deleted together or none', async () => {
    const ids = [(await make()).id, (await make()).id, (await make()).id];
    const page = (await api.get(`${PATH}?limit=2`)).body.data as {
      rows: { keyId: number }[];
      nextCursor: string;
    };
    expect(page.rows.map(({ keyId }) => keyId)).toEqual(ids.slice(0, 2));
    const rest = (await api.get(`${PATH}?limit=2&cursor=${page.nextCursor}`)).body.data as typeof page;
    expect([rest.rows.map(({ keyId }) => keyId), rest.nextCursor]).toEqual([ids.slice(2), null]);
    expectRefused(await api.delete(`${PATH}/${ids[0]},777777`), 404, 'KEY_NOT_FOUND', { ids: [777_777] });
    expect(await reasonOf(api.delete(`${PATH}/${ids.join(',')}`))).toBe('200');
    expect((await api.get(PATH)).body.data).toMatchObject({ rows: [] });
  });

  it('a tenant has at most 100 keys, however many are made at once', async () => {
    for (let n = 0; n < 95; n += 1) await make();
    const post = (n: number) => resendWhenBusy(() => api.post(PATH, { name: `race ${n}`, ...READ }));
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => post(n)));
    const told = answers.map(({ status, refusal }) => (status === 200 ? '200' : refusal.reason)).sort();
    expect(told).toEqual([...Array<string>(5).fill('200'), ...Array<string>(7).fill('KEY_LIMIT')]);
    expect(await service.dataSource.manager.countBy(KeyEntity, { tenantId, delFlag: '0' })).toBe(100);
  });

  it('requests that run while their key is deleted are answered or refused, and none after it is answered', async () => {
    const key = await make({ roles: ['tenant_admin'], permissions: ['dept:write'] });
    const answers: Promise<Answer>[] = [];
    const stop = new AbortController();
    const caller = (async () => {
      while (!stop.signal.aborted) {
        answers.push(withKey(key).post(DEPTS, {}));
        await Promise.race([answers.at(-1), sleep(2)]);
      }
    })();
    await until(() => answers.length > 3);
    expect(await reasonOf(api.delete(`${PATH}/${key.id}`))).toBe('200');
    const later = await Promise.all([1, 2, 3].map(() => reasonOf(withKey(key).post(DEPTS, {}))));
    stop.abort();
    await caller;
    expect(later).toEqual(later.map(() => '401 KEY_INVALID'));
    const all = new Set(await Promise.all(answers.map((answer) => reasonOf(answer))));
    expect([...all].filter((told) => !['200', '401 KEY_INVALID'].includes(told))).toEqual([]);
  });
});

function parseInt62(digit: string): number {
  return '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(digit);
}
