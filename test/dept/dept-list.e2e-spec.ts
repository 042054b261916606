import fc from 'fast-check';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid, expectRefused } from '../support/refusals';
import { aTenantRow, deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { onServer } from '../support/test-database';

const PATH = '/system/dept-api';

interface ListPage {
  rows: { deptId: number; deptName: string; hasChildren: boolean; orderNum: number }[];
  nextCursor: string | null;
  hasMore: boolean;
}

describe('the list of departments', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  async function list(query: Record<string, string | number> = {}): Promise<ListPage> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const answer = await api.get(`${PATH}?${search.toString()}`);
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
    return answer.body.data as ListPage;
  }
  const idsOf = ({ rows }: ListPage) => rows.map(({ deptId }) => deptId);

  async function allPages(query: Record<string, string | number>): Promise<number[]> {
    const ids: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: ListPage = await list(cursor ? { ...query, cursor } : query);
      expect(page.hasMore).toBe(page.nextCursor !== null);
      ids.push(...idsOf(page));
      cursor = page.nextCursor;
    }
    return ids;
  }

  it('the list is in the order of orderNum, then of ids, and each row is the read department plus hasChildren', async () => {
    const late = await aDept(api, { deptName: 'late', orderNum: 2 });
    const first = await aDept(api, { deptName: 'first', orderNum: -1, leader: '张三' });
    const child = await aDept(api, { parentId: late, orderNum: 2 });
    const page = await list();
    expect(idsOf(page)).toEqual([first, late, child]);
    expect(page).toMatchObject({ nextCursor: null, hasMore: false });
    const read = (await api.get(`${PATH}/${first}`)).body.data as object;
    expect(page.rows[0]).toEqual({ ...read, hasChildren: false });
    expect(page.rows.map(({ hasChildren }) => hasChildren)).toEqual([false, true, false]);
  });

  it('the list has no deleted departments, and does not count them as children', async () => {
    const parent = await aDept(api);
    const gone = await aDept(api, { parentId: parent });
    await api.delete(`${PATH}/${gone}`);
    const page = await list();
    expect([idsOf(page), page.rows[0]!.hasChildren]).toEqual([[parent], false]);
  });

  describe('filters', () => {
    it('the list is filtered by parent, ancestor, leader, status and ids, and by all of them together', async () => {
      const top = await aDept(api, { deptName: '总公司', leader: '张三' });
      const left = await aDept(api, { parentId: top, leader: '李四' });
      const right = await aDept(api, { parentId: top, leader: '张三' });
      const below = await aDept(api, { parentId: left, deptName: '研发部' });
      await api.put(PATH, { deptId: right, leader: '张三', status: '1' });
      expect(idsOf(await list({ parentId: 0 }))).toEqual([top]);
      expect(idsOf(await list({ parentId: top }))).toEqual([left, right]);
      expect(idsOf(await list({ ancestorId: top }))).toEqual([left, right, below]);
      expect(idsOf(await list({ ancestorId: left }))).toEqual([below]);
      expect(idsOf(await list({ ancestorId: 0 }))).toEqual([top, left, right, below]);
      expect(idsOf(await list({ leader: '张三' }))).toEqual([top, right]);
      expect(idsOf(await list({ leader: '张' }))).toEqual([]);
      expect(idsOf(await list({ status: '1' }))).toEqual([right]);
      expect(idsOf(await list({ ids: `${below},${top},${top},999999` }))).toEqual([top, below]);
      expect(idsOf(await list({ deptName: '发' }))).toEqual([below]);
      expect(
        idsOf(await list({ ancestorId: top, leader: '张三', status: '1', ids: `${right},${left}` })),
      ).toEqual([right]);
      expect(idsOf(await list({ ancestorId: top, leader: '张三', status: '0' }))).toEqual([]);
    });

    it('the list answers 404 for an ancestor that does not exist, and nothing for such a parent', async () => {
      expect((await api.get(`${PATH}?ancestorId=999999`)).refusal.reason).toBe('DEPT_NOT_FOUND');
      expect(idsOf(await list({ parentId: 999_999 }))).toEqual([]);
    });

    it('the list is filtered by names with every kind of character as a plain filter would', async () => {
      const parts = [...Array.from('aAé%_\\\'"`研部😀😁 *\tß０0#/?&\u{10ffff}'), 'e\u0301', 'ss'];
      const text = fc
        .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 4 })
        .map((all) => all.join('').trim());
      const names = [
        ...new Set([...fc.sample(text, { numRuns: 60, seed: 5 }), ...parts.map((part) => part.trim())]),
      ].filter(Boolean);
      const ids = new Map<number, string>();
      for (const deptName of names) ids.set(await aDept(api, { deptName }), deptName);
      for (const part of [...names.slice(0, 40), ...parts.map((each) => each.trim()).filter(Boolean)]) {
        const found = (await list({ deptName: part, limit: 500 })).rows.map(({ deptName }) => deptName);
        expect([part, found]).toEqual([part, [...ids.values()].filter((name) => name.includes(part))]);
      }
    });
  });

  describe('keyset pagination', () => {
    it('pages of the list hold every row once, whatever the filters and the limit', async () => {
      const top = await aDept(api, { deptName: 'top' });
      const made: number[] = [];
      for (let n = 0; n < 23; n += 1) {
        made.push(
          await aDept(api, { parentId: top, orderNum: n % 3, deptName: `d${n}`, leader: n % 2 ? 'x' : 'y' }),
        );
      }
      const expected = (keep: (n: number) => boolean) =>
        made
          .map((id, n) => ({ id, n }))
          .filter(({ n }) => keep(n))
          .sort((a, b) => (a.n % 3) - (b.n % 3) || a.id - b.id)
          .map(({ id }) => id);
      for (const limit of [1, 2, 7, 22, 23, 24]) {
        expect(await allPages({ parentId: top, limit })).toEqual(expected(() => true));
        expect(await allPages({ ancestorId: top, limit })).toEqual(expected(() => true));
        expect(await allPages({ leader: 'x', limit })).toEqual(expected((n) => n % 2 === 1));
        expect(await allPages({ deptName: '1', limit })).toEqual(expected((n) => String(n).includes('1')));
        expect(await allPages({ ids: made.slice(0, 9).join(), limit })).toEqual(expected((n) => n < 9));
      }
    });

    it('pages of a subtree hold what sorting all of it gives', async () => {
      const top = await aDept(api);
      const lines = Array.from({ length: 120 }, (_each, n) => [
        { path: `${top}/${n}`, orderNum: (n * 7) % 6 },
        { path: `${top}/${n}/x`, orderNum: (n * 5) % 6 },
        { path: `${top}/${n}/y`, orderNum: (n * 3) % 6 },
      ]).flat();
      await api.put(PATH, { deptId: top, deptName: String(top) });
      const file = lines.map((line) => JSON.stringify(line)).join('\n');
      const headers = { 'content-type': 'application/x-ndjson' };
      expect((await api.send('POST', `${PATH}/import`, file, headers)).status).toBe(200);
      const stored = await service.dataSource.manager.findBy(TenantryDept, { delFlag: '0' });
      const expected = stored
        .filter(({ ancestors }) => ancestors.split(',').includes(String(top)))
        .sort((a, b) => a.orderNum - b.orderNum || a.deptId - b.deptId)
        .map(({ deptId }) => deptId);
      expect(expected).toHaveLength(360);
      for (const limit of [1, 5, 11, 12, 50, 51])
        expect(idsOf(await list({ ancestorId: top, limit }))).toEqual(expected.slice(0, limit));
      expect(await allPages({ ancestorId: top, limit: 50 })).toEqual(expected);
    });

    it('pages of the list stay right while rows come and go between them', async () => {
      const made: number[] = [];
      for (let n = 0; n < 6; n += 1) made.push(await aDept(api, { orderNum: n * 10 }));
      const first = await list({ limit: 2 });
      await api.delete(`${PATH}/${made[1]!}`); // the row that the cursor stands on
      await api.delete(`${PATH}/${made[3]!}`);
      const before = await aDept(api, { orderNum: 5 });
      const after = await aDept(api, { orderNum: 45 });
      const second = await list({ limit: 500, cursor: first.nextCursor! });
      expect(idsOf(second)).toEqual([made[2], made[4], after, made[5]]);
      expect(idsOf(second)).not.toContain(before);
    });

    it('a cursor of the list is good in every process, and in no other list, filter or tenant', async () => {
      for (let n = 0; n < 4; n += 1) await aDept(api, { deptName: 'x', leader: 'x' });
      const { nextCursor } = await list({ limit: 1, deptName: 'x' });
      const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
      const again = await ServiceUnderTest.on(service.database);
      const elsewhere = `${PATH}?limit=2&deptName=x&cursor=${nextCursor!}`;
      expect((await again.as({ tenantId }).get(elsewhere)).status).toBe(200);
      await again.leave();
      expect((await api.get(elsewhere)).status).toBe(200);
      const refused = [
        api.get(`${PATH}?cursor=${nextCursor!}`),
        api.get(`${PATH}?deptName=y&cursor=${nextCursor!}`),
        api.get(`${PATH}?deptName=x&leader=x&cursor=${nextCursor!}`),
        api.get(`/system/user-api?cursor=${nextCursor!}`),
        other.get(elsewhere),
      ];
      for (const answer of await Promise.all(refused)) {
        expectInvalid(answer, 'cursor');
      }
    });

    it('a damaged cursor of the list is refused', async () => {
      for (let n = 0; n < 3; n += 1) await aDept(api);
      const cursor = (await list({ limit: 1 })).nextCursor!;
      const [text, seal] = cursor.split('.') as [string, string];
      const made = Buffer.from(JSON.stringify([0, 1])).toString('base64url');
      const forged = [
        '', 'x', '.', `${text}.`, `.${seal}`, text, `${made}.${seal}`, `${cursor}.`, `${cursor}x`, ` ${cursor.slice(1)}`,
        `${text}.${seal.slice(0, -1)}${seal.endsWith('A') ? 'B' : 'A'}`, cursor.toUpperCase(), '💥', 'a'.repeat(5000),
      ]; // prettier-ignore
      for (const each of forged) {
        expectInvalid(await api.get(`${PATH}?cursor=${encodeURIComponent(each)}`), 'cursor', each);
      }
      expect((await api.get(`${PATH}?cursor=${cursor}&cursor=${cursor}`)).status).toBe(400);
    });
  });

  if (!onServer) {
    // A server works in processes of its own; SQLite works in this one.
    it('a search through many departments lets others be answered meanwhile', async () => {
      const place = { tenantId, parentId: 0, ancestors: '0', depth: 1 };
      await deptRows(service.dataSource, 4000, (orderNum) => ({
        ...place,
        deptName: `${orderNum}`,
        orderNum,
      }));
      await list({ deptName: 'nobody' });
      const answered: string[] = [];
      const searches = Array.from({ length: 12 }, (_, n) => {
        const path = n % 2 === 0 ? PATH : `${PATH}/tree`;
        return api.get(`${path}?deptName=nobody`).then(() => answered.push('search'));
      });
      const health = service.anonymous.get('/health/live').then(() => answered.push('health'));
      await Promise.all([...searches, health]);
      expect(answered[0]).toBe('health');
    });
  }

  it('the list refuses what is not a filter of its form, and names it', async () => {
    const wrong = {
      limit: ['0', '501', 'x', '1.5', '-1', ''],
      parentId: ['x', '-1', '1.5', ''],
      ancestorId: ['x'],
      status: ['2', 'x', ''],
      ids: ['', 'x', '1,,2', '1,x', Array.from({ length: 501 }, (_, n) => n).join()],
      deptName: ['x'.repeat(65), 'a\0'],
      leader: ['x'.repeat(65)],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        expectInvalid(await api.get(`${PATH}?${field}=${encodeURIComponent(value)}`), field, value);
      }
      expect((await api.get(`${PATH}?${field}=1&${field}=1`)).status).toBe(400);
    }
    expect((await api.get(`${PATH}?deptName=&leader=`)).status).toBe(200);
    for (const broken of ['%ff', '%E0%A4%A', '%ED%A0%80', '100%']) {
      expectRefused(await api.get(`${PATH}?deptName=${broken}`), 400, 'MALFORMED_REQUEST', { told: broken });
    }
  });
});
