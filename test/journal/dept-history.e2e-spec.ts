import { aDept, type ApiClient } from '../../src/server/testing';
import { expectRefused } from '../support/refusals';
import { HandClock } from '../support/hand-clock';
import { aTenantRow } from '../support/seeds';
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
    tenantId = await aTenantRow(service.dataSource);
    api = service.as({ tenantId, username: 'ada' });
  });

  const read = async <T>(path: string): Promise<T> => {
    const answer = await api.get(PATH + path);
    expect([path, answer.status, answer.text.slice(0, 300)]).toEqual([path, 200, expect.anything()]);
    return answer.body.data as T;
  };
  const history = (id: number) => read<{ rows: Entry[] }>(`/${id}/history`).then(({ rows }) => rows);

  it('tells who did what to a department, the newest first, page by page, also after it was deleted', async () => {
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

  it('reads one, the children of one, and the tree at a version', async () => {
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
});
