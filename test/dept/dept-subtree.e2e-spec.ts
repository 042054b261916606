import { DomainEvents } from '../../src/database/domain-events';
import { DeptDeleted, DeptRestored, type DeptEvent } from '../../src/dept/dept.events';
import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { changePage, cursorNow } from '../support/follower';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid, expectRefused } from '../support/refusals';
import { anAccount, aTenantRow, deptRow, deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

interface Row {
  readonly deptId: number;
  readonly deptName: string;
  readonly ancestors: string;
  readonly delFlag: string;
  readonly hasChildren: boolean;
  readonly updateBy: string;
}

describe('a department with all below it', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });
  let api: ApiClient;
  let tenantId: string;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  const deleteTree = (id: number | string, headers?: Record<string, string>): Promise<Answer> =>
    api.send('DELETE', `${PATH}/${id}?subtree=true`, undefined, headers);
  const restore = (id: number, body: unknown = {}): Promise<Answer> =>
    api.post(`${PATH}/${id}/restore`, body);
  const rowsOf = async (query: string, caller = api): Promise<Row[]> => {
    const answer = await caller.get(`${PATH}?${query}`);
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    return (answer.body.data as { rows: Row[] }).rows;
  };
  const idsOf = async (query: string): Promise<number[]> => (await rowsOf(query)).map(({ deptId }) => deptId);
  const pathsOf = async (): Promise<Map<number, string>> =>
    new Map((await rowsOf('limit=500')).map(({ deptId, ancestors }) => [deptId, ancestors]));

  /** `top` has `left` and `right`, `left` has `leaf`. */
  const aTree = async (parentId = 0) => {
    const top = await aDept(api, { parentId, deptName: 'top' });
    const left = await aDept(api, { parentId: top, deptName: 'left' });
    const right = await aDept(api, { parentId: top, deptName: 'right' });
    const leaf = await aDept(api, { parentId: left, deptName: 'leaf', leader: '张三' });
    return { top, left, right, leaf, all: [top, left, right, leaf].sort((a, b) => a - b) };
  };

  it('a subtree is deleted by one request, and nothing beside it', async () => {
    const { top, all } = await aTree();
    const other = await aTree();
    expectRefused(await api.delete(`${PATH}/${top}?subtree=false`), 409, 'DEPT_HAS_CHILDREN', { ids: [top] });
    const answer = await deleteTree(top);
    expect([answer.status, answer.body.data]).toEqual([200, null]);
    expect(await idsOf('limit=500')).toEqual(other.all);
    for (const id of all)
      expect(await deptRow(service.dataSource, id)).toMatchObject({ delFlag: '2', deletedWith: top });
  });

  it('a subtree is restored as a whole, with what it had, below where its parent stands now', async () => {
    const parent = await aDept(api);
    const { top, leaf, left } = await aTree(parent);
    const before = await pathsOf();
    await deleteTree(top);
    expect((await restore(top)).status).toBe(200);
    expect(await pathsOf()).toEqual(before);
    expect((await api.get(`${PATH}/${leaf}`)).body.data).toMatchObject({ deptName: 'leaf', leader: '张三' });
    await deleteTree(top);
    const elsewhere = await aDept(api);
    await api.patch(`${PATH}/${parent}`, { parentId: elsewhere });
    expect((await restore(top)).status).toBe(200);
    expect((await pathsOf()).get(leaf)).toBe(`0,${elsewhere},${parent},${top},${left}`);
    expect(await deptRow(service.dataSource, leaf)).toMatchObject({ depth: 5, deletedWith: null });
  });

  it('a subtree is restored without what was deleted before it, and without what was restored since', async () => {
    const { top, left, right, leaf } = await aTree();
    await api.delete(`${PATH}/${right}`);
    await deleteTree(top);
    expectRefused(await restore(left), 409, 'PARENT_NOT_FOUND', { ids: [top] });
    expect((await restore(left, { parentId: 0 })).status).toBe(200);
    expect(await pathsOf()).toEqual(
      new Map([
        [left, '0'],
        [leaf, `0,${left}`],
      ]),
    );
    expect((await restore(top)).status).toBe(200);
    expect((await pathsOf()).get(top)).toBe('0');
    expect((await pathsOf()).get(leaf)).toBe(`0,${left}`);
    expect((await api.get(`${PATH}/${right}`)).status).toBe(404);
    // A second deletion of the same department knows only what it has deleted itself.
    await deleteTree(top);
    expect((await restore(top)).status).toBe(200);
    expect((await api.get(`${PATH}/${right}`)).status).toBe(404);
    expect((await restore(right)).status).toBe(200);
  });

  it('a subtree that was deleted on its own inside another comes back only when it is restored itself', async () => {
    const { top, left, leaf } = await aTree();
    await deleteTree(left);
    await deleteTree(top);
    expect((await restore(top)).status).toBe(200);
    expect((await api.get(`${PATH}/${left}`)).status).toBe(404);
    expect((await api.get(`${PATH}/${leaf}`)).status).toBe(404);
    expect((await restore(left)).status).toBe(200);
    expect((await pathsOf()).get(leaf)).toBe(`0,${top},${left}`);
  });

  it('a deleted subtree is one version of the journal, children before parents, and its restore one the other way round', async () => {
    const { top, left, all } = await aTree();
    const events: DeptEvent[] = [];
    for (const type of [DeptDeleted, DeptRestored])
      service.app.get(DomainEvents).on(type, (event) => void events.push(event));
    const cursor = await cursorNow(api);
    await deleteTree(top);
    await restore(top);
    const { rows } = await changePage(api, { after: cursor });
    const [deleted, restored] = ['deleted', 'restored'].map((operation) =>
      rows.filter((row) => row.operation === operation),
    );
    for (const entries of [deleted!, restored!]) {
      expect(entries.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).toEqual(all);
      expect(new Set(entries.map(({ version }) => version)).size).toBe(1);
    }
    const places = (entries: typeof rows): number[] =>
      [left, top].map((id) => entries.findIndex((row) => row.id === id));
    expect(places(deleted!)[0]).toBeLessThan(places(deleted!)[1]!);
    expect(places(restored!)[0]).toBeGreaterThan(places(restored!)[1]!);
    expect(restored!.map(({ after }) => after)).toContainEqual(expect.objectContaining({ leader: '张三' }));
    expect(events.map(({ deptId }) => deptId)).toEqual(rows.map(({ id }) => id));
    const history = (await api.get(`${PATH}/${left}/history`)).body.data as { rows: { operation: string }[] };
    expect(history.rows.map(({ operation }) => operation)).toEqual(['restored', 'deleted', 'created']);
  });

  it('a deleted subtree is shown by asOf and diff as it was', async () => {
    const { top, left, leaf } = await aTree();
    const { version } = (await changePage(api)).rows.at(-1)!;
    await deleteTree(top);
    const then = (await api.get(`${PATH}/tree?asOf=${version}`)).body.data as { rows: object[] };
    expect(then.rows).toMatchObject([
      { deptId: top, children: [{ deptId: left, children: [{ deptId: leaf }] }, {}] },
    ]);
    const diff = (await api.get(`${PATH}/diff?from=${version}`)).body.data as { rows: object[] };
    expect(diff.rows).toHaveLength(4);
    await restore(top);
    const again = (await api.get(`${PATH}/diff?from=${version}`)).body.data as { rows: object[] };
    expect(again.rows).toEqual([]);
  });

  it('a subtree is kept while any of it has users, and the refusal names where', async () => {
    const { top, right, leaf, all } = await aTree();
    for (const deptId of [right, leaf]) await anAccount(service.dataSource, { tenantId, deptId });
    const ids = [right, leaf].toSorted((a, b) => a - b);
    expectRefused(await deleteTree(top), 409, 'DEPT_HAS_USERS', { ids });
    expect(await idsOf('limit=500')).toEqual(all);
  });

  it('a deletion of a subtree takes If-Match of its top, and one id only', async () => {
    const { top, left, right } = await aTree();
    expectInvalid(await deleteTree(`${left},${right}`), 'subtree');
    expectInvalid(await api.delete(`${PATH}/${top}?subtree=yes`), 'subtree');
    expectRefused(await deleteTree(top, { 'if-match': '"77"' }), 412, 'STALE');
    expectRefused(await deleteTree(987_654), 404, 'DEPT_NOT_FOUND');
    const { etag = '' } = (await api.get(`${PATH}/${top}`)).headers;
    expect((await deleteTree(top, { 'if-match': etag })).status).toBe(200);
    expectRefused(await deleteTree(top), 404, 'DEPT_NOT_FOUND');
  });

  it('a subtree is not restored deeper than 64 levels', async () => {
    const { top } = await aTree();
    await deleteTree(top);
    let deepest = 0;
    for (let depth = 0; depth < 62; depth += 1) deepest = await aDept(api, { parentId: deepest });
    expectRefused(await restore(top, { parentId: deepest }), 400, 'DEPT_TOO_DEEP');
    expect((await api.get(`${PATH}/${top}`)).status).toBe(404);
  });

  it('a subtree of up to 10,000 departments is deleted and restored at once', async () => {
    const top = await aDept(api);
    const below = { tenantId, parentId: top, ancestors: `0,${top}`, depth: 2 };
    await deptRows(service.dataSource, 9999, (orderNum) => ({ ...below, orderNum }));
    const extra = await aDept(api, { parentId: top });
    expectRefused(await deleteTree(top), 409, 'DEPT_SUBTREE_TOO_LARGE');
    await api.delete(`${PATH}/${extra}`);
    expect((await deleteTree(top)).status).toBe(200);
    expect(await idsOf('limit=500')).toEqual([]);
    expect(await idsOf('limit=500&deleted=true')).toEqual([top, extra]);
    expect((await restore(top)).status).toBe(200);
    expect(await idsOf(`limit=2&parentId=${top}`)).toHaveLength(2);
    const tree = (await api.get(`${PATH}/tree?depth=1`)).body.data as { rows: Row[] };
    expect(tree.rows).toMatchObject([{ deptId: top, hasChildren: true }]);
  });

  describe('the list of what can be restored', () => {
    it('the list of deleted departments leaves out what comes back with one above it', async () => {
      const { top, right } = await aTree();
      const single = await aDept(api, { deptName: 'single' });
      await api.delete(`${PATH}/${right}`);
      await api.delete(`${PATH}/${single}`);
      await deleteTree(top);
      const deleted = await rowsOf('deleted=true');
      expect(deleted.map(({ deptId }) => deptId)).toEqual([top, right, single]);
      expect(deleted[0]).toMatchObject({ delFlag: '2', hasChildren: false, updateBy: 'tester' });
      for (const { deptId } of deleted) expect((await restore(deptId)).status).toBe(200);
      expect(await rowsOf('deleted=true')).toEqual([]);
    });

    it('the list of deleted departments takes the filters and the pages of the list', async () => {
      const parent = await aDept(api);
      const fields = { parentId: parent, leader: '李四' };
      const ids: number[] = [];
      for (const orderNum of [3, 1, 2])
        ids.push(await aDept(api, { ...fields, orderNum, deptName: `no ${orderNum}` }));
      const alive = await aDept(api, fields);
      await api.delete(`${PATH}/${ids.join(',')}`);
      const [third, first, second] = ids;
      expect(await idsOf('deleted=true')).toEqual([first, second, third]);
      expect(await idsOf(`deleted=true&parentId=${parent}`)).toEqual([first, second, third]);
      expect(await idsOf('deleted=true&parentId=0')).toEqual([]);
      expect(await idsOf('deleted=true&deptName=no%202')).toEqual([second]);
      expect(await idsOf(`deleted=true&leader=${encodeURIComponent('李四')}`)).toHaveLength(3);
      expect(await idsOf('deleted=true&status=1')).toEqual([]);
      expect(await idsOf(`deleted=true&ids=${third},${alive}`)).toEqual([third]);
      expect(await idsOf('deleted=false')).toEqual(await idsOf(''));
      const answer = await api.get(`${PATH}?deleted=true&limit=2`);
      const { rows, nextCursor } = answer.body.data as { rows: Row[]; nextCursor: string };
      expect(rows).toHaveLength(2);
      expect(await idsOf(`deleted=true&limit=2&cursor=${nextCursor}`)).toEqual([third]);
      expectInvalid(await api.get(`${PATH}?limit=2&cursor=${nextCursor}`), 'cursor');
      expectInvalid(await api.get(`${PATH}?deleted=true&ancestorId=${parent}`), 'deleted');
      expectInvalid(await api.get(`${PATH}?deleted=true&parentId=0&asOf=1`), 'asOf');
      expectInvalid(await api.get(`${PATH}?deleted=1`), 'deleted');
    });

    it('the list of deleted departments is for those who may restore, of their own tenant', async () => {
      await api.delete(`${PATH}/${await aDept(api)}`);
      const member = service.as({ tenantId, roles: ['member'] });
      expectRefused(await member.get(`${PATH}?deleted=true`), 403, 'ROLE_REQUIRED');
      expect((await member.get(`${PATH}?deleted=false`)).status).toBe(200);
      const stranger = service.as({ tenantId: await aTenantRow(service.dataSource) });
      expect(await rowsOf('deleted=true', stranger)).toEqual([]);
    });
  });
});
