import { MAX_DEPTH } from '../../src/database/tree-path';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectRefused } from '../support/refusals';
import { deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const JSON_ANSWER = 'application/json; charset=utf-8';

interface Node {
  deptId: number;
  deptName: string;
  hasChildren: boolean;
  children: Node[];
}

describe('the tree of departments', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  async function tree(query = ''): Promise<{ rows: Node[]; truncated: boolean }> {
    const answer = await api.get(`${PATH}/tree${query}`);
    expect(answer.status).toBe(200);
    return answer.body.data as { rows: Node[]; truncated: boolean };
  }
  /** Names, with what hangs below in brackets; a star says that there is more below than is shown. */
  const draw = (nodes: Node[]): string =>
    nodes
      .map(({ deptName, children, hasChildren }) =>
        children.length > 0 ? `${deptName}(${draw(children)})` : `${deptName}${hasChildren ? '*' : ''}`,
      )
      .join(' ');

  /** a(b(d e) c) f */
  async function grow(): Promise<Record<string, number>> {
    const ids: Record<string, number> = {};
    const add = async (deptName: string, above?: string, more: object = {}) => {
      ids[deptName] = await aDept(api, { deptName, parentId: above ? ids[above] : 0, ...more });
    };
    await add('f', undefined, { orderNum: 9 });
    await add('a');
    await add('c', 'a', { orderNum: 5 });
    await add('b', 'a', { orderNum: 1 });
    await add('d', 'b');
    await add('e', 'b', { status: '1' });
    return ids;
  }

  it('the tree nests children in their order', async () => {
    await grow();
    const { rows, truncated } = await tree();
    expect([draw(rows), truncated]).toEqual(['a(b(d e) c) f', false]);
    const read = (await api.get(`${PATH}/${rows[1]!.deptId}`)).body.data as object;
    expect(rows[1]).toEqual({ ...read, hasChildren: false, children: [] });
  });

  it('the tree begins at a root, ends at a depth, and says where there is more', async () => {
    const { b, a } = await grow();
    expect(draw((await tree(`?rootId=${b!}`)).rows)).toBe('b(d e)');
    expect(draw((await tree('?depth=1')).rows)).toBe('a* f');
    expect(draw((await tree('?depth=2')).rows)).toBe('a(b* c) f');
    expect(draw((await tree(`?rootId=${a!}&depth=1`)).rows)).toBe('a*');
    expect(draw((await tree(`?rootId=${a!}&depth=64`)).rows)).toBe('a(b(d e) c)');
    expect(draw((await tree('?rootId=0')).rows)).toBe('a(b(d e) c) f');
  });

  it('the tree shows matches on the chain of their ancestors', async () => {
    const { a, c } = await grow();
    expect(draw((await tree('?deptName=d')).rows)).toBe('a(b(d))');
    expect(draw((await tree('?deptName=b')).rows)).toBe('a(b*)');
    expect(draw((await tree('?status=1')).rows)).toBe('a(b(e))');
    expect(draw((await tree('?status=0')).rows)).toBe('a(b(d) c) f');
    expect(draw((await tree(`?deptName=e&rootId=${a!}`)).rows)).toBe('a(b(e))');
    expect(draw((await tree(`?deptName=e&rootId=${c!}`)).rows)).toBe('');
    expect(draw((await tree(`?deptName=c&rootId=${c!}`)).rows)).toBe('c');
    expect(draw((await tree('?deptName=d&depth=2')).rows)).toBe('');
    expect(draw((await tree('?deptName=none')).rows)).toBe('');
  });

  it('the tree refuses what it cannot mean', async () => {
    expect((await api.get(`${PATH}/tree?rootId=999999`)).refusal.reason).toBe('DEPT_NOT_FOUND');
    for (const query of ['depth=0', 'depth=65', 'depth=x', 'rootId=x', 'status=2']) {
      expect([query, (await api.get(`${PATH}/tree?${query}`)).status]).toEqual([query, 400]);
    }
  });

  it('the tree holds 5,000 departments, the upper levels first, and says when there are more', async () => {
    const tops = [await aDept(api, { deptName: 'p' }), await aDept(api, { deptName: 'q' })];
    await deptRows(service.dataSource, 4998, (n) => {
      const parentId = tops[n % 2]!;
      return { tenantId, parentId, ancestors: `0,${parentId}`, depth: 2, deptName: 'x', orderNum: n };
    });
    const count = (nodes: Node[]): number =>
      nodes.reduce((sum, { children }) => sum + 1 + count(children), 0);
    const whole = await tree();
    expect([count(whole.rows), whole.truncated]).toEqual([5000, false]);
    const child = whole.rows[0]!.children[0]!.deptId;
    await aDept(api, { deptName: 'deep', parentId: child });
    const late = await aDept(api, { deptName: 'late' });
    const part = await tree();
    expect([count(part.rows), part.truncated]).toEqual([5000, true]);
    expect(part.rows.map(({ deptId }) => deptId)).toEqual([...tops, late]);
    expect(draw([part.rows[0]!])).not.toContain('deep');
    const below = await tree(`?rootId=${tops[1]!}`);
    expect([count(below.rows), below.truncated]).toEqual([2500, false]);
    const matches = await tree('?status=0');
    expect([count(matches.rows), matches.truncated]).toEqual([5000, true]);
  });

  it('the tree finds matches wherever they stand among many, and says truncated only when there are more', async () => {
    const top = await aDept(api, { deptName: 'the x root', orderNum: 9 });
    await deptRows(service.dataSource, 30_000, (n) => ({
      ...{ tenantId, parentId: top, ancestors: `0,${top}`, depth: 2, deptName: 'y', orderNum: n % 7 },
    }));
    const late = await aDept(api, { deptName: 'late', orderNum: 99, parentId: top });
    await api.patch(`${PATH}/${late}`, { status: '1' });
    for (const [query, drawn] of [
      ['?depth=1&status=0', 'the x root*'],
      ['?depth=1&deptName=x', 'the x root*'],
      ['?deptName=late', 'the x root(late)'],
      ['?status=1', 'the x root(late)'],
      [`?status=1&rootId=${top}`, 'the x root(late)'],
      [`?deptName=a&status=1`, 'the x root(late)'],
    ]) {
      const { rows: found, truncated } = await tree(query);
      expect([query, draw(found), truncated]).toEqual([query, drawn, false]);
    }
    expect((await tree('?status=0')).truncated).toBe(true);
    const list = (await api.get(`${PATH}?parentId=${top}&leader=nobody`)).body.data;
    expect(list).toEqual({ rows: [], nextCursor: null, hasMore: false });
    // Of very many children a page may have none that match, and still have more after it.
    const disabled: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const after: string = cursor && `&cursor=${cursor}`;
      const page = (await api.get(`${PATH}?parentId=${top}&status=1${after}`)).body.data as {
        rows: { deptId: number }[];
        nextCursor: string | null;
      };
      disabled.push(...page.rows.map(({ deptId }) => deptId));
      cursor = page.nextCursor;
    }
    expect(disabled).toEqual([late]);
  });

  describe('as a drawing', () => {
    const SVG = { accept: 'image/svg+xml' };
    const chart = async (query = '', headers: Record<string, string> = SVG, of = api) =>
      of.get(`${PATH}/tree${query}`, headers);
    /** The names in it. */
    const drawn = ({ text }: { text: string }) =>
      [...text.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map((match) => match[1]).join(' ');

    it('the tree is drawn for those who prefer a drawing, in parts like the tree', async () => {
      const { a, b } = await grow();
      const answer = await chart();
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(answer.text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>\n$/s);
      expect(drawn(answer)).toBe('a b d e c f');
      for (const [query, names] of [
        [`?rootId=${b!}`, 'b d e'],
        ['?depth=1', 'a f'],
        [`?rootId=${a!}&depth=2`, 'a b c'],
        ['?deptName=d', 'a b d'],
        ['?status=1', 'a b e'],
        ['?inScope=true', 'a b d e c f'],
        ['?deptName=none', ''],
      ] as const)
        expect([query, drawn(await chart(query))]).toEqual([query, names]);
      const { name, at } = { name: 'later', at: new Date().toISOString() };
      await aDept(api, { deptName: name, parentId: b! });
      expect(drawn(await chart())).toBe('a b d e later c f');
      expect(drawn(await chart(`?asOf=${at}`))).toBe('a b d e c f');
    });

    it('the tree is JSON unless a drawing is preferred', async () => {
      await grow();
      for (const accept of [
        '*/*',
        'application/json',
        'image/png',
        'application/json, image/svg+xml;q=0.9',
      ]) {
        const { headers, body } = await chart('', { accept });
        expect([accept, headers['content-type'], headers.vary]).toEqual([accept, JSON_ANSWER, 'Accept']);
        expect(body.data).toMatchObject({ truncated: false });
      }
      for (const accept of ['image/svg+xml, */*;q=0.1', 'image/*', 'text/html, image/svg+xml']) {
        const { headers } = await chart('', { accept });
        expect([accept, headers['content-type'], headers.vary]).toEqual([
          ...[accept, 'image/svg+xml; charset=utf-8', 'Accept'],
        ]);
      }
      // Other operations have none.
      expect((await api.get(PATH, SVG)).headers['content-type']).toBe(JSON_ANSWER);
    });

    it('a drawing has a tag, so that it is sent once', async () => {
      const { a } = await grow();
      const { headers, text } = await chart();
      expect(headers['cache-control']).toBe('private, no-cache');
      const known = { ...SVG, 'if-none-match': headers.etag! };
      const again = await chart('', known);
      expect([again.status, again.text]).toEqual([304, '']);
      expect((await chart('', { 'if-none-match': headers.etag! })).status).toBe(200);
      const head = await api.send('HEAD', `${PATH}/tree`, undefined, SVG);
      expect([head.status, head.headers.etag, head.headers['content-length'], head.text]).toEqual([
        ...[200, headers.etag, String(Buffer.byteLength(text)), ''],
      ]);
      await api.patch(`${PATH}/${a!}`, { leader: 'somebody' });
      expect((await chart('', known)).status).toBe(200);
    });

    it('names and leaders are text in a drawing, and a browser runs nothing of it', async () => {
      const hostile = '</text><script>alert(1)</script>&"';
      await aDept(api, { deptName: hostile, leader: '<img src=x onerror=alert(1)>' });
      const { text, headers } = await chart();
      expect(text).not.toMatch(/<(script|img|style|foreignObject)|\son\w+="/);
      expect(text.replace(/<\/text><text [^>]*>/g, '')).toContain('&lt;/text&gt;&lt;script&gt;alert(1)');
      expect(headers).toMatchObject({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
      });
    });

    it('a drawing has at most 1,000 boxes; refusals are JSON', async () => {
      const top = await aDept(api);
      await deptRows(service.dataSource, 999, (n) => {
        const place = { parentId: top, ancestors: `0,${top}`, depth: 2 };
        return { tenantId, ...place, deptName: `d${n}`, orderNum: n };
      });
      const whole = await chart();
      expect([whole.status, whole.text.match(/<rect /g)!.length]).toEqual([200, 1000]);
      await aDept(api, { parentId: top, deptName: 'one more' });
      const answer = await chart();
      expectRefused(answer, 400, 'DEPT_CHART_TOO_LARGE');
      expect(answer.headers['content-type']).toBe(JSON_ANSWER);
      expect(drawn(await chart('?depth=1'))).toBe(`#${top}`);
      expect(drawn(await chart('?deptName=one more'))).toBe(`#${top} one more`);
      expectRefused(await chart('?rootId=999999'), 404, 'DEPT_NOT_FOUND');
      expectRefused(await chart('?depth=0'), 400, 'INVALID_INPUT');
      expectRefused(
        await chart(`?rootId=${top}`, SVG, (await freshTenant(service)).api),
        404,
        'DEPT_NOT_FOUND',
      );
      expectRefused(await chart('', SVG, service.anonymous), 401, 'TOKEN_MISSING');
      expectRefused(
        await chart('', SVG, service.as({ tenantId, permissions: ['user:read'] })),
        403,
        'PERMISSION_REQUIRED',
      );
    });
  });

  it('the ancestors of a department are given from the top', async () => {
    const { a, b, d } = await grow();
    const chain = async (id: number) =>
      (await api.get(`${PATH}/${id}/ancestors`)).body.data as { deptId: number }[];
    expect((await chain(d!)).map(({ deptId }) => deptId)).toEqual([a, b]);
    expect((await chain(d!))[0]).toEqual((await api.get(`${PATH}/${a!}`)).body.data);
    expect(await chain(a!)).toEqual([]);
    expect((await api.get(`${PATH}/999999/ancestors`)).refusal.reason).toBe('DEPT_NOT_FOUND');
    expect((await api.get(`${PATH}/x/ancestors`)).status).toBe(400);
  });

  async function chain(length: number): Promise<number[]> {
    const ids: number[] = [];
    for (let n = 0; n < length; n += 1) ids.push(await aDept(api, { parentId: ids.at(-1) ?? 0 }));
    return ids;
  }

  it('a parent holds 10,000 departments, and moves with them', async () => {
    const [parent, other] = [await aDept(api), await aDept(api)];
    await deptRows(service.dataSource, 10_000, (orderNum) => ({
      ...{ tenantId, parentId: parent, ancestors: `0,${parent}`, depth: 2, orderNum },
    }));
    const added = await aDept(api, { parentId: parent });
    expect((await api.delete(`${PATH}/${parent}`)).refusal.reason).toBe('DEPT_HAS_CHILDREN');
    expect((await api.put(PATH, { deptId: parent, parentId: other })).status).toBe(200);
    const dept = (await api.get(`${PATH}/${added}`)).body.data;
    expect(dept).toMatchObject({ parentId: parent, ancestors: `0,${other},${parent}` });
  });

  it('a chain of 64 departments is held, and the 65th refused', async () => {
    const ids = await chain(MAX_DEPTH);
    const last = (await api.get(`${PATH}/${ids.at(-1)!}`)).body.data;
    expect(last).toMatchObject({ ancestors: [0, ...ids.slice(0, -1)].join(',') });
    const answer = await api.post(PATH, { parentId: ids.at(-1) });
    expectRefused(answer, 400, 'DEPT_TOO_DEEP');
    expect(answer.refusal.fields?.[0]?.field).toBe('parentId');
  });

  it('the height of a moved subtree counts against the limit of depth', async () => {
    const tall = await chain(MAX_DEPTH - 2);
    const [low] = await chain(3);
    expectRefused(await api.put(PATH, { deptId: low, parentId: tall.at(-1) }), 400, 'DEPT_TOO_DEEP');
    expect((await api.put(PATH, { deptId: low, parentId: tall.at(-2) })).status).toBe(200);
  });

  it('the longest ids fit into the longest path', async () => {
    const first = 1_000_000_000_000_000;
    await deptRows(service.dataSource, MAX_DEPTH, (n) => {
      const above = Array.from({ length: n }, (_, index) => first + index);
      const path = { parentId: above.at(-1) ?? 0, ancestors: [0, ...above].join(','), depth: n + 1 };
      return { deptId: first + n, tenantId, ...path };
    });
    const answer = await api.get(`${PATH}/${first + MAX_DEPTH - 1}`);
    expect((answer.body.data as TenantryDept).ancestors.split(',')).toHaveLength(MAX_DEPTH);
    await service.dataSource.manager.delete(TenantryDept, { tenantId });
  });
});
