import { createTenantryClient, type TenantryClient } from '../../src/client/index';
import { mintToken } from '../../src/server/testing';
import { checkConformance, readDocument } from '../support/conformance';
import { aTenantWith } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

describe('the typed client', () => {
  const service = ServiceUnderTest.use();
  const called = new Set<string>();

  /** A client that notes what it calls, by method and path as the document writes them. */
  function noting(token?: string): TenantryClient {
    const { baseUrl } = service.anonymous;
    const client = createTenantryClient({ baseUrl, fetch: inspected, ...(token && { token }) });
    client.use({
      onRequest({ request, schemaPath }) {
        called.add(`${request.method} ${schemaPath}`);
      },
    });
    return client;
  }

  async function inspected(request: Request): Promise<Response> {
    const response = await fetch(request);
    const { pathname, search } = new URL(request.url);
    checkConformance({
      method: request.method,
      path: pathname + search,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.clone().text(),
    });
    return response;
  }

  async function done<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
    const { data, error } = await call;
    if (data === undefined) throw new Error(JSON.stringify(error));
    return data;
  }

  const idIn = (response: Response) => response.headers.get('location')!.split('/').at(-1)!;

  it('the typed client signs in, asks who it is, and signs out', async () => {
    const open = noting();
    const credentials = { username: 'admin', password: 'admin-password' };
    const { data } = await done(open.POST('/auth/login', { body: credentials }));
    const { refreshToken } = data;
    const { data: fresh } = await done(open.POST('/auth/refresh', { body: { refreshToken } }));
    const oauth = await done(open.POST('/auth/token', { body: { grant_type: 'password', ...credentials } }));
    expect(oauth.token_type).toBe('Bearer');
    const mine = noting(fresh.accessToken);
    const { data: me } = await done(mine.GET('/auth/me'));
    expect(me.username).toBe('admin');
    await done(mine.POST('/auth/logout'));
    expect((await mine.GET('/auth/me')).error?.data).toMatchObject({ reason: 'TOKEN_INVALID' });
  });

  it('the typed client manages departments', async () => {
    const api = noting(mintToken());
    const { response } = await api.POST('/system/dept-api', {
      body: { deptName: '总公司', orderNum: 1 },
      params: { header: { 'Idempotency-Key': 'client' } },
    });
    const id = Number(idIn(response));
    const child = Number(idIn((await api.POST('/system/dept-api', { body: { parentId: id } })).response));
    const path = { id };
    const read = await api.GET('/system/dept-api/{id}', { params: { path } });
    expect(read.data?.data).toMatchObject({ deptId: id, deptName: '总公司', leader: null });
    const same = await api.GET('/system/dept-api/{id}', {
      params: { path, header: { 'If-None-Match': read.response.headers.get('etag')! } },
    });
    expect(same.response.status).toBe(304);
    await done(api.PUT('/system/dept-api', { body: { deptId: id, deptName: '总部' } }));
    await done(api.PATCH('/system/dept-api/{id}', { params: { path }, body: { leader: '李四' } }));
    await done(api.PUT('/system/dept-api/order', { body: { parentId: id, deptIds: [child] } }));
    const { data: page } = await done(api.GET('/system/dept-api', { params: { query: { deptName: '总' } } }));
    expect(page.rows.map(({ leader, hasChildren }) => [leader, hasChildren])).toEqual([['李四', true]]);
    const { data: tree } = await done(api.GET('/system/dept-api/tree'));
    expect(tree.rows[0]?.children[0]?.deptId).toBe(child);
    const drawing = await api.GET('/system/dept-api/tree', {
      headers: { Accept: 'image/svg+xml' },
      parseAs: 'text',
    });
    expect(drawing.data?.slice(0, 4)).toBe('<svg');
    const ofChild = { params: { path: { id: child } } };
    const { data: above } = await done(api.GET('/system/dept-api/{id}/ancestors', ofChild));
    expect(above.map(({ deptId }) => deptId)).toEqual([id]);
    const moved = await api.PUT('/system/dept-api', { body: { deptId: id, parentId: child } });
    expect(moved.error?.data).toMatchObject({ reason: 'DEPT_CYCLE' });
    await done(api.DELETE('/system/dept-api/{id}', { params: { path: { id: String(child) } } }));
    await done(api.POST('/system/dept-api/{id}/restore', { ...ofChild, body: { parentId: 0 } }));
    const { data: history } = await done(api.GET('/system/dept-api/{id}/history', ofChild));
    expect(history.rows[0]).toMatchObject({ operation: 'restored', id: child, before: null });
    const query = { from: '0' };
    const { data: diff } = await done(api.GET('/system/dept-api/diff', { params: { query } }));
    expect(diff.rows.map(({ change, path: names }) => [change, names])).toContainEqual(['created', '总部']);
  });

  it('the typed client moves departments as a file', async () => {
    const api = noting(mintToken());
    const file = await done(api.GET('/system/dept-api/export'));
    const dryRun = { params: { query: { dryRun: true } }, body: file };
    const { data: report } = await done(api.POST('/system/dept-api/import', dryRun));
    const csv = { headers: { Accept: 'text/csv' }, parseAs: 'stream' } as const;
    const table = await api.GET('/system/dept-api/export', csv);
    const stream: ReadableStream | null | undefined = table.data;
    expect(await new Response(stream ?? null).text()).toMatch(/^path,orderNum/);
    expect(report).toMatchObject({ created: 0, refused: 0 });
  });

  it('the typed client manages tenants', async () => {
    const api = noting(mintToken());
    const body = { tenantName: 'a', quotaBo: { merchant: 3 } };
    const id = idIn((await api.POST('/system/tenant-api', { body })).response);
    const path = { id };
    const { data: tenant } = await done(api.GET('/system/tenant-api/{id}', { params: { path } }));
    expect([tenant.tenantName, tenant.quotaBo.merchant, tenant.ruleBo.modelZr]).toEqual(['a', 3, null]);
    await done(api.PUT('/system/tenant-api', { body: { id, tenantName: 'b' } }));
    await done(api.PATCH('/system/tenant-api/{id}', { params: { path }, body: { status: '1' } }));
    const disabled = { params: { query: { state: 'DISABLED' } } } as const;
    const { data: page } = await done(api.GET('/system/tenant-api', disabled));
    expect(page.rows.map((row) => row.id)).toEqual([id]);
    await done(api.DELETE('/system/tenant-api/{id}', { params: { path } }));
    await done(api.POST('/system/tenant-api/{id}/restore', { params: { path } }));
    const { data: history } = await done(api.GET('/system/tenant-api/{id}/history', { params: { path } }));
    expect(history.rows.map(({ by, operation }) => [by, operation])[0]).toEqual(['tester', 'restored']);
  });

  it('the typed client manages accounts', async () => {
    const api = noting(mintToken());
    const made = await api.POST('/system/user-api', { body: { username: 'c', password: 'a-long-password' } });
    const userId = Number(idIn(made.response));
    const { data: user } = await done(api.GET('/system/user-api/{id}', { params: { path: { id: userId } } }));
    expect(user.roles).toEqual(['member']);
    await done(api.PUT('/system/user-api', { body: { userId, username: 'd' } }));
    const path = { id: userId };
    await done(api.PATCH('/system/user-api/{id}', { params: { path }, body: { nickname: 'D' } }));
    const { data: history } = await done(api.GET('/system/user-api/{id}/history', { params: { path } }));
    expect(history.rows.map(({ operation }) => operation)).toEqual(['updated', 'updated', 'created']);
    await done(api.PUT('/system/user-api/password', { body: { userId, newPassword: 'a-long-password2' } }));
    const { data: page } = await done(api.GET('/system/user-api', { params: { query: { username: 'd' } } }));
    expect(page.rows.map((row) => row.userId)).toContain(userId);
    await done(api.DELETE('/system/user-api/{id}', { params: { path: { id: String(userId) } } }));
  });

  it('the typed client sees who signed in, and ends sessions', async () => {
    const api = noting(mintToken());
    const credentials = { username: 'e', password: 'a-long-password' };
    const made = await api.POST('/system/user-api', { body: credentials });
    const path = { id: Number(idIn(made.response)) };
    for (let n = 0; n < 2; n += 1) await done(noting().POST('/auth/login', { body: credentials }));
    const query = { userId: path.id, outcome: 'signed_in' } as const;
    const { data: signIns } = await done(api.GET('/system/sign-in-api', { params: { query } }));
    const sessions = () => done(api.GET('/system/user-api/{id}/sessions', { params: { path } }));
    const before = (await sessions()).data.rows.map(({ sessionId }) => sessionId);
    expect(signIns.rows.map(({ sessionId }) => sessionId)).toEqual(before);
    const one = { ...path, sessionId: before[0]! };
    await done(api.DELETE('/system/user-api/{id}/sessions/{sessionId}', { params: { path: one } }));
    expect((await sessions()).data.rows.map(({ sessionId }) => sessionId)).toEqual(before.slice(1));
    await done(api.DELETE('/system/user-api/{id}/sessions', { params: { path } }));
    expect((await sessions()).data.rows).toEqual([]);
  });

  it('the typed client makes, reads, changes and deletes a key, and calls with it', async () => {
    const api = noting(mintToken());
    const body = { name: 'typed', permissions: ['dept:read'] };
    const { data: made } = await done(api.POST('/system/key-api', { body }));
    const { id: keyId, secret = '' } = made;
    const params = { path: { id: keyId } };
    const { data: me } = await done(noting(secret).GET('/auth/me'));
    expect(me.username).toBe('key:typed');
    await done(api.PUT('/system/key-api', { body: { ...body, keyId, endTime: '2099-12-31' } }));
    await done(api.PATCH('/system/key-api/{id}', { params, body: { status: '1' } }));
    const { data: key } = await done(api.GET('/system/key-api/{id}', { params }));
    expect(key).toMatchObject({ name: 'typed', endTime: '2099-12-31 23:59:59', status: '1' });
    expect((await done(api.GET('/system/key-api/{id}/history', { params }))).data.rows).toHaveLength(3);
    await done(api.DELETE('/system/key-api/{id}', { params: { path: { id: String(keyId) } } }));
    expect((await done(api.GET('/system/key-api'))).data.rows).toEqual([]);
  });

  it('the typed client follows changes, and manages webhooks', async () => {
    const api = noting(mintToken({ roles: ['superadmin'] }));
    const { data: changes } = await done(
      api.GET('/system/change-api', { params: { query: { after: 'now' } } }),
    );
    expect([changes.rows, typeof changes.nextCursor]).toEqual([[], 'string']);
    const kinds = { params: { query: { kinds: ['dept' as const, 'user' as const] } } };
    await done(api.GET('/system/change-api', kinds));
    const body = { url: 'https://93.184.216.34/hooks', kinds: ['dept' as const], status: '1' as const };
    const { data: made } = await done(api.POST('/system/webhook-api', { body }));
    const params = { path: { id: made.id } };
    await done(api.PUT('/system/webhook-api', { body: { ...body, webhookId: made.id } }));
    const { data: hook } = await done(api.GET('/system/webhook-api/{id}', { params }));
    expect(hook.url).toBe(body.url);
    expect((await done(api.GET('/system/webhook-api'))).data.rows).toHaveLength(1);
    expect((await done(api.GET('/system/webhook-api/{id}/deliveries', { params }))).data.rows).toEqual([]);
    await done(api.PATCH('/system/webhook-api/{id}', { params, body: { kinds: ['user' as const] } }));
    const { data: rotated } = await done(api.POST('/system/webhook-api/{id}/rotate', { params }));
    expect(rotated.secret).not.toBe(made.secret);
    const message = { path: { id: made.id, messageId: 'msg_000000_1_0_1' } };
    const resent = await api.POST('/system/webhook-api/{id}/deliveries/{messageId}/resend', {
      params: message,
    });
    expect(resent.response.status).toBe(404);
    await done(api.DELETE('/system/webhook-api/{id}', { params }));
    expect((await api.POST('/system/webhook-api/{id}/ping', { params })).response.status).toBe(404);
  });

  it('the typed client spends quotas, and says what a tenant may do', async () => {
    const tenantId = await aTenantWith(service.dataSource, { riskReport: 10 });
    const api = noting(mintToken({ tenantId }));
    const path = { kind: 'riskReport' };
    await done(api.POST('/system/quota-api/{kind}/use', { params: { path }, body: { key: 'a', amount: 2 } }));
    const back = { ofKey: 'a', key: 'b', amount: 1 };
    await done(api.POST('/system/quota-api/{kind}/refund', { params: { path }, body: back }));
    for (const key of ['c', 'd']) {
      const body = { key, amount: 3, seconds: 60 };
      await done(api.POST('/system/quota-api/{kind}/reservations', { params: { path }, body }));
    }
    const commit = { params: { path: { ...path, key: 'c' } }, body: { amount: 2 } };
    await done(api.POST('/system/quota-api/{kind}/reservations/{key}/commit', commit));
    const release = { params: { path: { ...path, key: 'd' } } };
    await done(api.DELETE('/system/quota-api/{kind}/reservations/{key}', release));
    const { data: entries } = await done(api.GET('/system/quota-api/{kind}/entries', { params: { path } }));
    expect(entries.rows.map(({ operation, amount }) => [operation, amount])).toEqual([
      ['commit', 2],
      ['refund', -1],
      ['use', 2],
    ]);
    const { data: quotas } = await done(api.GET('/system/quota-api'));
    expect(quotas.find(({ kind }) => kind === 'riskReport')).toMatchObject({ used: 3, available: 7 });
    const { data: own } = await done(api.GET('/system/entitlement-api'));
    expect([own.tenantId, own.quotas]).toEqual([tenantId, quotas]);
    const id = { params: { path: { id: tenantId } } };
    expect((await done(api.GET('/system/quota-api/{id}', id))).data).toEqual(quotas);
    expect((await done(api.GET('/system/entitlement-api/{id}', id))).data.tenantId).toBe(tenantId);
  });

  it('the typed client has called every operation of the document', () => {
    const operations = Object.entries(readDocument().paths).flatMap(([path, item]) =>
      METHODS.filter((method) => method.toLowerCase() in item).map((method) => `${method} ${path}`),
    );
    expect([...called].sort()).toEqual(operations.sort());
  });

  it('the typed client takes a refusal for one where the service always answers 200', async () => {
    const lenient = await ServiceUnderTest.start({ HTTP_STATUS_MODE: 'always-200' });
    const api = createTenantryClient({ baseUrl: lenient.anonymous.baseUrl });
    const { data, error } = await api.GET('/auth/me');
    expect([data, error?.data.reason]).toEqual([undefined, 'TOKEN_MISSING']);
    await lenient.stop();
  });

  it('the typed client asks for a strict reading of names, unless it is told otherwise', async () => {
    const api = noting(mintToken());
    const typo = { deptname: 'x' } as object;
    const { error } = await api.POST('/system/dept-api', { body: typo });
    expect(error?.data).toMatchObject({ reason: 'INVALID_INPUT', fields: [{ field: 'deptname' }] });
    const header = { Prefer: 'handling=lenient' } as const;
    const { response } = await api.POST('/system/dept-api', { body: typo, params: { header } });
    expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([200, 'deptname']);
  });

  it('the typed client does not compile with a wrong field or path', () => {
    const api = noting();
    const wrong = [
      // @ts-expect-error: the field is called deptName
      () => api.POST('/system/dept-api', { body: { departmentName: 'x' } }),
      // @ts-expect-error: deptId is required
      () => api.PUT('/system/dept-api', { body: { deptName: 'x' } }),
      // @ts-expect-error: there is no such path
      () => api.GET('/system/departments'),
      // @ts-expect-error: there is no such filter
      () => api.GET('/system/dept-api', { params: { query: { name: 'x' } } }),
      async () => {
        const { data } = await api.GET('/system/dept-api/{id}', { params: { path: { id: 1 } } });
        // @ts-expect-error: a department has no such field
        return String(data?.data.name);
      },
      async () => {
        const { error } = await api.GET('/system/dept-api/{id}', { params: { path: { id: 1 } } });
        // @ts-expect-error: a read is never refused for this reason
        return error?.data.reason === 'DEPT_HAS_CHILDREN';
      },
    ];
    expect(wrong).toHaveLength(6);
    const right = async (): Promise<string | null | undefined> =>
      (await api.POST('/system/dept-api', { body: {} })).data?.data;
    expect(right).toBeDefined();
  });
});
