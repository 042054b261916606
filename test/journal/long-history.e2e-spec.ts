import { TenantryChange } from '../../src/journal/change-log';
import { TenantryDept } from '../../src/dept/dept.entity';
import { DeptHistory } from '../../src/dept/history/dept-history.service';
import { HISTORY_LIMITS } from '../../src/dept/history/dept-journal';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { RequestContext } from '../../src/tenancy/request-context';
import { aDept, type ApiClient } from '../../src/server/testing';
import { Chance } from '../support/chance';
import { freshTenant } from '../support/fresh-tenant';
import { times } from '../support/long-run';
import { writeAtRandom } from '../support/random-writes';
import { expectRefused } from '../support/refusals';
import { bulkInsert } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

describe('a long history', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));
  afterEach(() => jest.restoreAllMocks());

  const read = async <T>(path: string): Promise<T> => {
    const answer = await api.get(PATH + path);
    expect([path, answer.status, answer.text.slice(0, 300)]).toEqual([path, 200, expect.anything()]);
    return answer.body.data as T;
  };

  /** Adds entries as if each were a unit of its own; the leader of a department changes in each. */
  async function changeLeaders(changes: readonly { deptId: number; leader: string }[], from: number) {
    const { manager } = service.dataSource;
    const leaders = new Map<number, string | null>();
    const entries = changes.map(({ deptId, leader }, n) => {
      const fields = { before: { leader: leaders.get(deptId) ?? null }, after: { leader } };
      leaders.set(deptId, leader);
      return {
        ...{ tenantId, version: from + n, seq: 0, prev: from + n - 1, kind: 'dept' as const },
        ...{ operation: 'updated' as const, resourceId: String(deptId), fields: JSON.stringify(fields) },
        ...{ by: 'seed', happenedAt: new Date() },
      };
    });
    for (let at = 0; at < entries.length; at += 500)
      await bulkInsert(service.dataSource, TenantryChange, entries.slice(at, at + 500));
    for (const [deptId, leader] of leaders) await manager.update(TenantryDept, { deptId }, { leader });
    await manager.update(TenantryTenant, { tenantId }, { treeVersion: String(from + changes.length - 1) });
  }

  it('a history is the same over many pages of the journal as in one', async () => {
    // Twelve: the order of 9 and 10 as texts is another than as numbers.
    const ids: number[] = [];
    while (ids.length < 12) ids.push(await aDept(api, { deptName: `${ids.length}` }));
    // One of them is busier than a page is long, and not the last.
    const changes = Array.from({ length: 2600 }, (_, n) => ({
      deptId: n % 2 === 0 ? ids[3]! : ids[n % 12]!,
      leader: `leader ${n}`,
    }));
    const first = ids.length + 1;
    await changeLeaders(changes, first);
    const leadersAt = (version: number) =>
      ids.map((id) => {
        const last = changes.slice(0, Math.max(0, version - first + 1)).filter(({ deptId }) => deptId === id);
        return last.at(-1)?.leader ?? null;
      });
    for (const version of [ids.length, first + 7, first + 1234, first + 2599]) {
      const expected = leadersAt(version);
      const { rows } = await read<{ rows: TenantryDept[] }>(`/tree?asOf=${version}`);
      expect(rows.map(({ leader }) => leader)).toEqual(expected);
      const page = await read<{ rows: TenantryDept[] }>(`?parentId=0&asOf=${version}`);
      expect(page.rows.map(({ leader }) => leader)).toEqual(expected);
      expect(await read(`/${ids[3]}?asOf=${version}`)).toMatchObject({ leader: expected[3] });
      const to = first + 2000;
      const diff = await read<{ rows: { deptId: number; fields: unknown[] }[] }>(
        version < to ? `/diff?from=${version}&to=${to}` : `/diff?from=${to}&to=${version}`,
      );
      const [before, after] = [leadersAt(Math.min(version, to)), leadersAt(Math.max(version, to))];
      expect(diff.rows.map(({ deptId, fields }) => ({ deptId, fields }))).toEqual(
        ids.flatMap((deptId, at) =>
          before[at] === after[at]
            ? []
            : [{ deptId, fields: [{ field: 'leader', before: before[at], after: after[at] }] }],
        ),
      );
    }
  });

  it('a history stays the same while others change the tree', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 20; n += 1)
      ids.push(await aDept(api, { parentId: ids[Math.floor(n / 3) - 1] ?? 0, deptName: `${n}` }));
    // Each has been one version.
    const paths = ['/tree?asOf=20', '/tree?depth=2&asOf=20', `/${ids[19]}?asOf=20`];
    const before = await Promise.all(paths.map((path) => read(path)));
    let isWriting = true;
    const check = async () => {
      while (isWriting)
        for (const [at, path] of paths.entries()) expect(await read(path)).toEqual(before[at]);
    };
    const reading = [check(), check()];
    const writing = [1, 2, 3].map((seed) => writeAtRandom(api, new Chance(seed), times(150, 25), [...ids]));
    await Promise.all(writing).finally(() => (isWriting = false));
    await Promise.all(reading);
  });

  it('a history beyond a bound is refused, with a reason that says what to narrow', async () => {
    const id = await aDept(api);
    for (const leader of ['a', 'b', 'c', 'd']) await api.patch(`${PATH}/${id}`, { leader });
    jest.replaceProperty(HISTORY_LIMITS, 'most', 3);
    for (const path of [`/${id}?asOf=1`, '/tree?asOf=1', '?parentId=0&asOf=1', '/diff?from=1'])
      expectRefused(await api.get(PATH + path), 400, 'HISTORY_TOO_LONG', { told: path });
    // What is nearer is read.
    for (const path of [`/${id}?asOf=4`, '/tree?asOf=4', '?parentId=0&asOf=4', '/diff?from=4'])
      await read(path);
    expect((await api.get(`${PATH}/${id}`)).status).toBe(200);
  });

  it('a history is read by a few at a time: the others wait, and all are answered', async () => {
    const id = await aDept(api);
    for (const leader of ['a', 'b']) await api.patch(`${PATH}/${id}`, { leader });
    jest.replaceProperty(HISTORY_LIMITS, 'short', 0);
    const paths = [`/${id}?asOf=1`, '/tree?asOf=1', '?parentId=0&asOf=1', '/diff?from=1', '/diff?from=0'];
    // More rounds than there are places: each one gives its place back, refused or not.
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([...paths, '/tree?asOf=2'].map(read));
      expectRefused(await api.get(`${PATH}/999999?asOf=1`), 404, 'DEPT_NOT_FOUND');
    }
  });

  it('a history knows the version at a time, also when a later one was written by a process whose clock is behind', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 10, 0, second));
    const id = await aDept(api);
    for (const leader of ['a', 'b', 'c']) await api.patch(`${PATH}/${id}`, { leader });
    for (const [version, second] of [0, 20, 10, 90].entries())
      await service.dataSource.manager.update(
        TenantryChange,
        { tenantId, version: version + 1 },
        { happenedAt: at(second) },
      );
    const versionAt = async (second: number) =>
      (await service.app.get(DeptHistory).at(RequestContext.system(tenantId), at(second))).version;
    expect(await Promise.all([-1, 0, 5, 15, 25, 89, 90].map(versionAt))).toEqual([0, 1, 1, 3, 3, 3, 4]);
  });
});
