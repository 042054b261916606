import { TenantryChange } from '../../src/journal/change-log';
import { DeptService } from '../../src/dept/dept.service';
import { DeptHistory } from '../../src/dept/history/dept-history.service';
import { RequestContext } from '../../src/tenancy/request-context';
import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid, expectRefused } from '../support/refusals';
import { HandClock } from '../support/hand-clock';
import { deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

interface Row {
  readonly deptId: number;
  readonly deptName: string;
  readonly hasChildren: boolean;
  readonly children: readonly Row[];
}
interface Entry {
  readonly version: number;
  readonly operation: string;
  readonly time: string;
}

describe('departments as they were', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' }, clock);
  let api: ApiClient;
  let tenantId: string;

  beforeEach(async () => {
    clock.set(new Date().toISOString());
    ({ tenantId, api } = await freshTenant(service, { username: 'ada' }));
  });

  const read = async <T>(path: string): Promise<T> => {
    const answer = await api.get(PATH + path);
    expect([path, answer.status, answer.text.slice(0, 300)]).toEqual([path, 200, expect.anything()]);
    return answer.body.data as T;
  };
  const history = (id: number) => read<{ rows: Entry[] }>(`/${id}/history`).then(({ rows }) => rows);

  it('a history tells who did what to a department, the newest first, page by page, also after it was deleted', async () => {
    const top = await aDept(api, { deptName: '总公司' });
    const id = await aDept(api, { deptName: '销售部', leader: '张三' });
    const asBob = service.as({ tenantId, username: 'bob' }).with({ 'x-request-id': 'r-1' });
    await asBob.patch(`${PATH}/${id}`, { parentId: top, leader: '李四' });
    await api.patch(`${PATH}/${id}`, { deptName: '市场部' });
    await api.delete(`${PATH}/${id}`);
    const rows = await history(id);
    expect(rows).toMatchObject([
      {
        operation: 'deleted',
        by: 'ada',
        id,
        kind: 'dept',
        after: null,
        before: { deptName: '市场部', parentId: top },
      },
      { operation: 'updated', by: 'ada', before: { deptName: '销售部' }, after: { deptName: '市场部' } },
      { operation: 'moved', by: 'bob', requestId: 'r-1', before: { parentId: 0, leader: '张三' } },
      { operation: 'created', by: 'ada', before: null, after: { deptName: '销售部', updateTime: null } },
    ]);
    const { after } = rows[3] as unknown as { after: { createTime: string } };
    expect(after.createTime).toBe(rows[3]!.time);
    const paged: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { rows: Entry[]; nextCursor: string | null } = await read(
        `/${id}/history?limit=1${cursor && `&cursor=${cursor}`}`,
      );
      paged.push(...page.rows);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(rows);
  });

  it('asOf reads one department, the children of one, and the tree at a version', async () => {
    const [a, b] = [await aDept(api, { deptName: 'a' }), await aDept(api, { deptName: 'b' })];
    const child = await aDept(api, { deptName: 'child', parentId: a });
    const leaf = await aDept(api, { deptName: 'leaf', parentId: child });
    const [{ version }] = (await history(leaf)) as [Entry];
    const live = {
      leaf: await read(`/${leaf}`),
      children: await read<{ rows: Row[] }>(`?parentId=${a}`),
      tree: await read('/tree'),
      root: await read(`/tree?rootId=${a}&depth=2`),
    };
    await api.patch(`${PATH}/${a}`, { parentId: b, deptName: 'renamed' });
    await api.patch(`${PATH}/${child}`, { parentId: 0 });
    await api.delete(`${PATH}/${leaf}`);
    await aDept(api, { parentId: b });
    expect(await read(`/${leaf}?asOf=${version}`)).toEqual(live.leaf);
    expect(await read(`?parentId=${a}&asOf=${version}`)).toEqual(live.children);
    expect(await read(`/tree?asOf=${version}`)).toEqual(live.tree);
    expect(await read(`/tree?rootId=${a}&depth=2&asOf=${version}`)).toEqual(live.root);
    expect(await read<{ rows: Row[] }>(`?parentId=${a}&asOf=${version}&deptName=x`)).toMatchObject({
      rows: [],
    });
    expectRefused(await api.get(`${PATH}/${leaf}?asOf=${version - 1}`), 404, 'DEPT_NOT_FOUND');
    expectRefused(await api.get(`${PATH}?parentId=${leaf}&asOf=${version - 1}`), 404, 'DEPT_NOT_FOUND');
    expectRefused(await api.get(`${PATH}/tree?rootId=${leaf}&asOf=${version - 1}`), 404, 'DEPT_NOT_FOUND');
  });

  it('asOf finds the state at a time: at the end of a day or of a second, or at an instant', async () => {
    clock.set('2026-12-30T04:00:00Z');
    const id = await aDept(api, { deptName: 'first' });
    clock.set('2026-12-31T15:59:59.500Z');
    await api.patch(`${PATH}/${id}`, { deptName: 'at year end' });
    clock.set('2026-12-31T16:00:00.000Z');
    await api.patch(`${PATH}/${id}`, { deptName: 'next year' });
    clock.set('2027-01-10T00:00:00Z');
    const nameAt = async (asOf: string) =>
      (await read<Row>(`/${id}?asOf=${encodeURIComponent(asOf)}`)).deptName;
    expect(await nameAt('2026-12-30')).toBe('first');
    expect(await nameAt('2026-12-31')).toBe('at year end');
    expect(await nameAt('2026-12-31 23:59:58')).toBe('first');
    expect(await nameAt('2026-12-31 23:59:59')).toBe('at year end');
    expect(await nameAt('2026-12-31T15:59:59.499Z')).toBe('first');
    expect(await nameAt('2026-12-31T17:00:00+01:00')).toBe('next year');
    expect(await nameAt('2027-01-10')).toBe('next year');
    expectRefused(await api.get(`${PATH}/${id}?asOf=2026-12-29`), 404, 'DEPT_NOT_FOUND');
    for (const future of ['2027-01-11', '2027-01-10 09:00:00', '9999-12-31', '99'])
      expectInvalid(await api.get(`${PATH}/${id}?asOf=${encodeURIComponent(future)}`), 'asOf', future);
  });

  it('asOf counts every version whose time had come, also one of a process whose clock is behind', async () => {
    clock.set('2026-12-30T04:00:04Z');
    const id = await aDept(api, { deptName: 'first' });
    clock.set('2026-12-30T04:00:10Z');
    await api.patch(`${PATH}/${id}`, { deptName: 'second' });
    // As another process, seven seconds behind.
    clock.set('2026-12-30T04:00:03Z');
    await api.patch(`${PATH}/${id}`, { deptName: 'third' });
    clock.set('2026-12-31T00:00:00Z');
    expect(await read<Row>(`/${id}?asOf=2026-12-30T04:00:05Z`)).toMatchObject({ deptName: 'third' });
    const { rows } = await service
      .as({ tenantId })
      .get('/system/change-api?from=2026-12-30T04:00:03Z&to=2026-12-30T04:00:05Z')
      .then(({ body }) => body.data as { rows: { after: Row }[] });
    expect(rows.map(({ after }) => after.deptName)).toEqual(['first', 'third']);
  });

  it('asOf keeps one state over all pages, whatever is written between them', async () => {
    const ids = [await aDept(api), await aDept(api), await aDept(api)];
    const today = `asOf=${new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10)}`;
    const first = await read<{ rows: Row[]; nextCursor: string }>(`?parentId=0&limit=1&${today}`);
    await api.delete(`${PATH}/${ids[1]}`);
    await aDept(api);
    const cursor = `cursor=${first.nextCursor}`;
    const second = await read<{ rows: Row[] }>(`?parentId=0&limit=5&${today}&${cursor}`);
    expect([...first.rows, ...second.rows].map(({ deptId }) => deptId)).toEqual(ids);
    expectInvalid(await api.get(`${PATH}?parentId=0&asOf=3&${cursor}`), 'cursor');
    expectInvalid(await api.get(`${PATH}?parentId=0&${cursor}`), 'cursor');
  });

  it('a history refuses what it cannot answer, and says which parameter is wrong', async () => {
    const id = await aDept(api);
    const wrong = ['', 'x', '-1', '1.5', '2026-02-30', '2026-1-1', '2026-01-01T00:00', '2026-01-01 24:00:00'];
    for (const asOf of [...wrong, '12345678901234567', '1e3', '２０２６-01-01', '2026-01-01 00:00:00\0'])
      for (const path of [`/${id}`, '', '/tree'])
        expectInvalid(
          await api.get(`${PATH}${path}?parentId=0&asOf=${encodeURIComponent(asOf)}`),
          'asOf',
          asOf,
        );
    for (const query of ['', `parentId=0&ids=${id}`, `parentId=0&ancestorId=${id}`])
      expectInvalid(await api.get(`${PATH}?${query}&asOf=0`), 'asOf', query);
    for (const query of ['status=0', 'deptName=a'])
      expectInvalid(await api.get(`${PATH}/tree?${query}&asOf=0`), 'asOf', query);
    expectInvalid(await api.get(`${PATH}/${id}?asOf=0&asOf=1`), 'asOf');
    expectInvalid(await api.get(`${PATH}/x/history`), 'id');
    expectRefused(await api.get(`${PATH}/987654321/history`), 404, 'DEPT_NOT_FOUND');
    expect(await read('/tree?asOf=0')).toEqual({ rows: [], truncated: false });
    expect((await api.get(`${PATH}/${id}?asOf=1`)).headers.etag).toMatch(/^"[\w-]{20,}"$/);
  });

  it('a history knows departments that are older than the journal, and says where the journal begins', async () => {
    const place = { tenantId, parentId: 0, ancestors: '0', depth: 1 };
    await deptRows(service.dataSource, 2, (n) => ({ ...place, deptName: `old ${n}`, orderNum: n }));
    // As the migration does with a tenant that was there before.
    await service.dataSource.query(`UPDATE tenantry_tenant SET tree_ver = 7 WHERE tenant_id = '${tenantId}'`);
    const begun = { kind: 'journal', operation: 'begun', resourceId: tenantId, by: 'system' } as const;
    const entry = { ...begun, version: 7, seq: 0, prev: 7, fields: '{}', happenedAt: clock.now() };
    await service.dataSource.manager.insert(TenantryChange, { ...entry, tenantId, lineage: null });
    const { rows } = await read<{ rows: Row[] }>('?parentId=0');
    const before = await read('/tree');
    const [old] = rows;
    expect(await history(old!.deptId)).toEqual([]);
    await api.patch(`${PATH}/${old!.deptId}`, { deptName: 'new', parentId: rows[1]!.deptId });
    expect(await read(`/${old!.deptId}?asOf=7`)).toMatchObject({ deptName: 'old 0', parentId: 0 });
    expect(await read('/tree?asOf=7')).toEqual(before);
    for (const query of [`/${old!.deptId}?asOf=6`, '/tree?asOf=6', '?parentId=0&asOf=6', '/diff?from=6'])
      expectRefused(await api.get(PATH + query), 410, 'HISTORY_GONE', { told: query });
    expectRefused(await api.get(`${PATH}/tree?asOf=2020-01-01`), 410, 'HISTORY_GONE');
    expectRefused(await api.get(`${PATH}/987654321?asOf=6`), 410, 'HISTORY_GONE');
    expect((await read<{ rows: unknown[] }>('/diff?from=7')).rows).toMatchObject([
      { change: 'moved', deptName: 'new', path: 'old 1 / new', pathBefore: 'old 0' },
    ]);
  });

  it('a diff tells what differs between two versions, for people to read', async () => {
    const top = await aDept(api, { deptName: '总公司' });
    const [moved, gone] = [
      await aDept(api, { deptName: '销售部' }),
      await aDept(api, { deptName: '旧部门' }),
    ];
    const [renamed, led] = [
      await aDept(api, { deptName: '甲' }),
      await aDept(api, { deptName: '乙', parentId: top }),
    ];
    const [{ version }] = (await history(led)) as [Entry];
    const bob = service.as({ tenantId, username: 'bob' });
    await api.patch(`${PATH}/${moved}`, { parentId: top });
    await bob.patch(`${PATH}/${moved}`, { deptName: '市场部' });
    await api.delete(`${PATH}/${gone}`);
    await api.patch(`${PATH}/${renamed}`, { deptName: '丙' });
    await api.patch(`${PATH}/${led}`, { leader: '李四', status: '1' });
    const made = await aDept(api, { deptName: '新部门', parentId: moved });
    // Made and deleted again, or changed and changed back: nothing differs.
    await api.delete(`${PATH}/${await aDept(api)}`);
    await api.patch(`${PATH}/${top}`, { leader: 'x' });
    await api.patch(`${PATH}/${top}`, { leader: null });
    const expected = [
      {
        deptId: made,
        change: 'created',
        path: '总公司 / 市场部 / 新部门',
        pathBefore: null,
        fields: [],
        by: 'ada',
      },
      {
        ...{ deptId: moved, change: 'moved', deptName: '市场部', by: 'bob' },
        ...{ path: '总公司 / 市场部', pathBefore: '销售部' },
        fields: [
          { field: 'deptName', before: '销售部', after: '市场部' },
          { field: 'parentId', before: 0, after: top },
        ],
      },
      { deptId: renamed, change: 'renamed', deptName: '丙', path: '丙', pathBefore: null },
      {
        ...{ deptId: led, change: 'changed', path: '总公司 / 乙' },
        fields: [
          { field: 'leader', before: null, after: '李四' },
          { field: 'status', before: '0', after: '1' },
        ],
      },
      { deptId: gone, change: 'deleted', deptName: '旧部门', path: '旧部门', fields: [] },
    ];
    const diff = await read<{ rows: unknown[]; hasMore: boolean }>(`/diff?from=${version}`);
    expect(diff).toMatchObject({ rows: expected, hasMore: false });
    const first = await read<{ rows: unknown[]; nextCursor: string }>(`/diff?from=${version}&limit=2`);
    await aDept(api, { deptName: 'later' });
    const rest = await read<{ rows: unknown[] }>(`/diff?from=${version}&cursor=${first.nextCursor}`);
    expect([...first.rows, ...rest.rows]).toEqual(diff.rows);
    expect(await read(`/diff?from=${version}&to=${version}`)).toMatchObject({ rows: [] });
    expectInvalid(await api.get(`${PATH}/diff`), 'from');
    expectInvalid(await api.get(`${PATH}/diff?from=${version}&to=1`), 'from');
    expectInvalid(await api.get(`${PATH}/diff?from=1&to=9999`), 'to');
  });

  it('a history is a service for hosts', async () => {
    const id = await aDept(api, { deptName: 'before' });
    await api.patch(`${PATH}/${id}`, { deptName: 'after' });
    const past = await service.app.get(DeptHistory).at(RequestContext.system(tenantId), 1);
    expect(await past.get(id)).toMatchObject({ deptName: 'before' });
    expect(await past.children()).toMatchObject([{ deptName: 'before', hasChildren: false }]);
    expect(await past.tree()).toMatchObject({
      rows: [{ deptName: 'before', children: [] }],
      truncated: false,
    });
    const now = await service.app.get(DeptHistory).at(RequestContext.system(tenantId), clock.now());
    expect(await now.get(id)).toMatchObject({ deptName: 'after' });
    const get = (asOf?: number) =>
      service.app.get(DeptService).get(RequestContext.system(tenantId), id, asOf);
    expect([(await get(1)).deptName, (await get()).deptName]).toEqual(['before', 'after']);
    for (const odd of [1.5, -1, NaN, new Date(NaN)])
      await expect(
        service.app.get(DeptHistory).at(RequestContext.system(tenantId), odd),
      ).rejects.toMatchObject({ row: { reason: 'INVALID_INPUT' } });
  });
});
