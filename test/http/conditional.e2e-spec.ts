import { aDept, type Answer, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { times } from '../support/long-run';
import { expectInvalid, expectRefused } from '../support/refusals';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DEPTS = '/system/dept-api';
const TENANTS = '/system/tenant-api';
const USERS = '/system/user-api';

interface Resource {
  readonly path: string;
  create(headers?: Record<string, string>): Promise<Answer>;
  put(headers?: Record<string, string>): Promise<Answer>;
  patch(headers?: Record<string, string>): Promise<Answer>;
  delete(headers?: Record<string, string>): Promise<Answer>;
}

describe('conditional requests', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeEach(async () => {
    api = service.as({ tenantId: await aTenantRow(service.dataSource) });
  });

  const resources: Record<string, () => Promise<Resource>> = {
    department: async () => {
      const deptId = await aDept(api);
      return {
        path: `${DEPTS}/${deptId}`,
        create: (headers) => api.post(DEPTS, { deptName: 'new' }, headers),
        put: (headers) => api.put(DEPTS, { deptId, deptName: 'changed' }, headers),
        patch: (headers) => api.patch(`${DEPTS}/${deptId}`, { deptName: 'patched' }, headers),
        delete: (headers) => api.delete(`${DEPTS}/${deptId}`, headers),
      };
    },
    tenant: async () => {
      const { id } = await aTenant(api);
      return {
        path: `${TENANTS}/${id}`,
        create: (headers) => api.post(TENANTS, { tenantName: 'new' }, headers),
        put: (headers) => api.put(TENANTS, { id, tenantName: 'changed' }, headers),
        patch: (headers) => api.patch(`${TENANTS}/${id}`, { tenantName: 'patched' }, headers),
        delete: (headers) => api.delete(`${TENANTS}/${id}`, headers),
      };
    },
    account: async () => {
      const userId = await aUser(api);
      return {
        path: `${USERS}/${userId}`,
        create: (headers) => api.post(USERS, { username: 'new', password: 'a-long-password' }, headers),
        put: (headers) => api.put(USERS, { userId, username: `changed-${userId}` }, headers),
        patch: (headers) => api.patch(`${USERS}/${userId}`, { nickname: 'patched' }, headers),
        delete: (headers) => api.delete(`${USERS}/${userId}`, headers),
      };
    },
  };

  describe.each(Object.keys(resources))('of a %s', (kind) => {
    let resource: Resource;
    const tag = async () => (await api.get(resource.path)).headers.etag!;
    beforeEach(async () => {
      resource = await resources[kind]!();
    });

    it('a strong tag is renewed by every change, also by one that changes nothing', async () => {
      const tags = [await tag()];
      expect(tags[0]).toMatch(/^"[^"]+"$/);
      expect(await tag()).toBe(tags[0]);
      for (let n = 0; n < 3; n += 1) {
        await resource.put();
        tags.push(await tag());
      }
      expect(new Set(tags).size).toBe(4);
    });

    it('PUT and PATCH answer with the tag that the next read has, which the next change may name', async () => {
      for (const change of ['put', 'patch', 'put'] as const) {
        const { status, headers } = await resource[change]();
        expect([status, headers.etag]).toEqual([200, await tag()]);
        const known = { 'if-none-match': headers.etag! };
        expect((await api.get(resource.path, known)).status).toBe(304);
        const next = await resource.patch({ 'if-match': headers.etag! });
        expect([next.status, next.headers.etag]).toEqual([200, await tag()]);
      }
      expectRefused(await resource.put({ 'if-match': '"77"' }), 412, 'STALE');
    });

    it('a create, and its repeats, answer with the path and the tag of what is new', async () => {
      const key = { 'idempotency-key': `create ${kind}` };
      const created = await resource.create(key);
      const { location = '', etag = '' } = created.headers;
      expect((await api.get(location, { 'if-none-match': etag })).status).toBe(304);
      expect((await resource.create(key)).headers).toMatchObject({ location, etag });
    });

    it('If-None-Match answers 304 without a body to who has it already', async () => {
      const etag = await tag();
      for (const sent of [etag, '*', `"x", ${etag}`, `W/${etag}`]) {
        const answer = await api.get(resource.path, { 'if-none-match': sent });
        expect([sent, answer.status, answer.text, answer.headers.etag]).toEqual([sent, 304, '', etag]);
      }
      const fetched = { 'if-none-match': etag, 'cache-control': 'no-cache', pragma: 'no-cache' };
      expect((await api.get(resource.path, fetched)).status).toBe(304);
      await resource.put();
      expect((await api.get(resource.path, { 'if-none-match': etag })).status).toBe(200);
    });

    it('If-Match changes it only as it was read: 412 and nothing changed otherwise', async () => {
      const old = await tag();
      expect((await resource.put({ 'if-match': old })).status).toBe(200);
      const read = (await api.get(resource.path)).text;
      for (const sent of [old, '"01"', '"1,0", "a,b"', `"x"`, `W/${await tag()}`, `${old}, "99"`]) {
        for (const answer of [
          await resource.put({ 'if-match': sent }),
          await resource.patch({ 'if-match': sent }),
          await resource.delete({ 'if-match': sent }),
        ]) {
          expectRefused(answer, 412, 'STALE', { told: sent });
        }
      }
      expect((await api.get(resource.path)).text).toBe(read);
      expect((await resource.put({ 'if-match': '*' })).status).toBe(200);
      expect((await resource.put({ 'if-match': `"x", ${await tag()}` })).status).toBe(200);
      expect((await resource.delete({ 'if-match': await tag() })).status).toBe(200);
      expect((await resource.delete({ 'if-match': old })).status).toBe(404);
    });

    it('If-Match refuses a header that is no tag', async () => {
      for (const sent of ['1', '"1', 'x"1"', '"1" "2"', '', '"1",']) {
        expectInvalid(await resource.put({ 'if-match': sent }), 'If-Match', sent);
      }
    });
  });

  it('If-Match cannot hold one tag against several departments or accounts', async () => {
    const ids = [await aDept(api), await aDept(api)].join();
    expectInvalid(await api.delete(`${DEPTS}/${ids}`, { 'if-match': '"0"' }), 'If-Match');
    expect((await api.delete(`${DEPTS}/${ids}`, { 'if-match': '*' })).status).toBe(200);
  });

  it('the tag of a department tells that it was moved with one above it, or put into order', async () => {
    const [top, other] = [await aDept(api), await aDept(api)];
    const below = await aDept(api, { parentId: top });
    const etag = async () => (await api.get(`${DEPTS}/${below}`)).headers.etag;
    const before = await etag();
    await api.patch(`${DEPTS}/${top}`, { parentId: other });
    const moved = await etag();
    await api.put(`${DEPTS}/order`, { parentId: top, deptIds: [below] });
    expect(new Set([before, moved, await etag()]).size).toBe(3);
  });

  it('a move answers with the tag of what has moved, and a new password with that of its account', async () => {
    const [top, other] = [await aDept(api), await aDept(api)];
    const moved = await api.put(DEPTS, { deptId: top, parentId: other });
    expect(moved.headers.etag).toBe((await api.get(`${DEPTS}/${top}`)).headers.etag);
    const userId = await aUser(api);
    const reset = await api.put(`${USERS}/password`, { userId, newPassword: 'another-long-password' });
    expect(reset.headers.etag).toBe((await api.get(`${USERS}/${userId}`)).headers.etag);
  });

  it('lists and trees carry a tag of what they show', async () => {
    await aDept(api);
    for (const path of [DEPTS, `${DEPTS}/tree`, TENANTS, USERS, '/auth/me', '/system/quota-api']) {
      const { headers } = await api.get(path);
      expect([path, headers.etag]).toEqual([path, expect.stringMatching(/^"[\w-]+"$/)]);
      expect((await api.get(path, { 'if-none-match': headers.etag! })).status).toBe(304);
    }
    const { etag } = (await api.get(DEPTS)).headers;
    await aDept(api);
    expect((await api.get(DEPTS, { 'if-none-match': etag! })).status).toBe(200);
  });

  it.each(['department', 'tenant'])(
    'of many changes of one version of a %s at the same time exactly one wins, time and again',
    async (kind) => {
      const resource = await resources[kind]!();
      for (let round = 0; round < times(20, 4); round += 1) {
        const etag = (await api.get(resource.path)).headers.etag!;
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => resource.put({ 'if-match': etag })),
        );
        const codes = answers.map(({ status }) => status).sort();
        expect(codes).toEqual([200, ...Array<number>(19).fill(412)]);
      }
    },
  );
});
