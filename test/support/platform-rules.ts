import type { ApiClient, ThrowAwayDatabase } from '../../src/server/testing';
import { compile } from './packed';
import { OPERATOR_KEY, Platform } from './platform';
import { emptyDatabase } from './test-database';
import { until } from './until';

/**
 * What the example platform promises, over HTTP; the same for every way to install it. `install` gives the folder of a host
 * that has everything but its compiled files.
 */
export function itIsAPlatform(install: () => string, makeDatabase = emptyDatabase): void {
  let database: ThrowAwayDatabase;
  let platform: Platform;

  beforeAll(async () => {
    const host = install();
    compile(host);
    database = await makeDatabase();
    platform = await Platform.start(host, database.url);
  });
  afterAll(async () => {
    await platform.stop();
    await database.drop();
  });

  const json = (answer: { text: string }): unknown => JSON.parse(answer.text);
  const depts = '/org/system/dept-api';

  async function aDept(api: ApiClient, body: object = {}): Promise<number> {
    const { headers } = await api.post(depts, body);
    expect(headers.location).toMatch(/^\/org\/system\/dept-api\/\d+$/);
    return Number(headers.location!.split('/').at(-1));
  }

  it('the platform keeps its own routes, errors and guard as they are', async () => {
    const { anonymous } = platform;
    expect(json(await anonymous.get('/'))).toEqual({ platform: 'example' });
    const tea = await anonymous.get('/teapot');
    expect([tea.status, json(tea)]).toMatchObject([418, { message: 'no coffee here' }]);
    const unknown = await anonymous.get('/nowhere');
    expect([unknown.status, json(unknown)]).toMatchObject([404, { message: 'Cannot GET /nowhere' }]);
    const closed = await anonymous.get('/orders');
    expect([closed.status, json(closed)]).toMatchObject([401, { message: 'Send your key as X-Api-Key' }]);
    // The same guard before a route of Tenantry: its status, in the envelope.
    const refused = await anonymous.get(`${depts}/1`);
    expect([refused.status, refused.body.code, refused.refusal.reason]).toEqual([401, 401, 'TOKEN_INVALID']);
    expect((await anonymous.get('/system/dept-api')).status).toBe(404);
  });

  it('the platform has departments for its customers, each its own', async () => {
    const [acme, globex] = [await platform.signUp('acme'), await platform.signUp('globex')];
    const sales = await aDept(acme.api, { deptName: 'Sales' });
    const read = await acme.api.get(`${depts}/${sales}`);
    expect(read.body).toMatchObject({
      code: 200,
      data: { deptName: 'Sales', tenantId: acme.tenantId, createBy: 'ada@acme.example' },
    });
    expect((await globex.api.get(`${depts}/${sales}`)).refusal.reason).toBe('DEPT_NOT_FOUND');
    const cycle = await acme.api.put(depts, { deptId: sales, parentId: sales });
    expect([cycle.status, cycle.refusal.reason]).toEqual([409, 'DEPT_CYCLE']);
  });

  it('the platform does not lose the people of a department', async () => {
    const { api } = await platform.signUp('initech');
    const deptId = await aDept(api);
    expect((await api.put(`/me/department/${deptId}`, {})).status).toBe(200);
    expect((await api.delete(`${depts}/${deptId}`)).refusal).toMatchObject({
      reason: 'DEPT_HAS_USERS',
      ids: [deptId],
    });
    const nowhere = await api.put('/me/department/999999', {});
    expect([nowhere.status, json(nowhere)]).toMatchObject([404, { reason: 'DEPT_NOT_FOUND' }]);
  });

  it('the platform shows and changes the orders of the department that somebody works in, and of those below it', async () => {
    const { api } = await platform.signUp('umbrella');
    const north = await aDept(api, { deptName: 'North' });
    const [shop, south] = [await aDept(api, { parentId: north }), await aDept(api, { deptName: 'South' })];
    for (const deptId of [north, shop, south])
      await api.post('/orders', { deptId, title: `${deptId}`, amount: 1 });
    expect(json(await api.get('/orders/total'))).toEqual({ total: 3 });
    await api.put(`/me/department/${north}`, {});
    const seen = [{ deptId: north }, { deptId: shop }];
    expect(json(await api.get('/orders'))).toMatchObject(seen);
    expect(json(await api.post('/orders/double', {}))).toEqual({ changed: 2 });
    expect(json(await api.get('/orders/total'))).toEqual({ total: 4 });
    const outside = await api.post('/orders', { deptId: south, title: 'x', amount: 1 });
    expect([outside.status, json(outside)]).toMatchObject([
      403,
      { reason: 'OUTSIDE_DATA_SCOPE', ids: [south] },
    ]);
    // A move is seen by the next statement.
    expect((await api.patch(`${depts}/${south}`, { parentId: shop })).status).toBe(200);
    expect(json(await api.get('/orders'))).toMatchObject([...seen, { deptId: south }]);
    const { body } = await api.get(`${depts}/tree?inScope=true&rootId=${north}`);
    expect(body.data).toMatchObject({ rows: [{ deptId: north, inScope: true }] });
  });

  it('the platform scopes its orders, and holds them when a customer is disabled', async () => {
    const operator = platform.with(OPERATOR_KEY);
    const [acme, globex] = [await platform.signUp('acme2'), await platform.signUp('globex2')];
    const deptId = await aDept(acme.api);
    const made = await acme.api.post('/orders', { deptId, title: 'paper', amount: 3 });
    expect([made.status, json(made)]).toMatchObject([201, { orderId: expect.any(Number) as number }]);
    expect(json(await acme.api.get('/orders'))).toMatchObject([{ title: 'paper', state: 'open', deptId }]);
    expect(json(await globex.api.get('/orders'))).toEqual([]);
    const foreign = await globex.api.post('/orders', { deptId, title: 'x', amount: 1 });
    expect([foreign.status, json(foreign)]).toMatchObject([404, { reason: 'DEPT_NOT_FOUND' }]);

    const { body } = await operator.get(`/org/system/tenant-api?tenantName=acme2`);
    const [{ id }] = (body.data as { rows: [{ id: string }] }).rows;
    const setStatus = async (status: string) => {
      expect((await operator.patch(`/org/system/tenant-api/${id}`, { status })).status).toBe(200);
    };
    await setStatus('1');
    expect((await acme.api.get('/orders')).status).toBe(403);
    await setStatus('0');
    // What an event starts is not waited for.
    await until(async () => (await acme.api.get('/orders')).text.includes('held'));
    expect(json(await acme.api.get('/orders'))).toMatchObject([{ state: 'held' }]);
  });
}
