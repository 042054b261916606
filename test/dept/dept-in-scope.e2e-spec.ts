import type { DataScope, DataScopePart } from '../../src/index';
import { aDept, type ApiClient } from '../../src/server/testing';
import { Chance, faultsSeed } from '../support/chance';
import { freshTenant } from '../support/fresh-tenant';
import { times } from '../support/long-run';
import { expectInvalid } from '../support/refusals';
import { deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

interface Node {
  deptId: number;
  deptName: string;
  inScope?: boolean;
  children?: Node[];
}
interface PageOfNodes {
  rows: Node[];
  nextCursor: string | null;
  hasMore: boolean;
}

const below = (...deptIds: number[]): DataScopePart => ({ kind: 'depts', deptIds, below: true });
const only = (...deptIds: number[]): DataScopePart => ({ kind: 'depts', deptIds, below: false });
const OWN: DataScopePart = { kind: 'own' };

describe('departments in the data scope of a caller', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;
  let ids: Record<string, number>;

  /** a(b(d e) c) f(g) */
  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(service));
    ids = {};
    for (const [deptName, above] of Object.entries({
      a: '',
      b: 'a',
      c: 'a',
      d: 'b',
      e: 'b',
      f: '',
      g: 'f',
    })) {
      ids[deptName] = await aDept(api, { deptName, parentId: ids[above] ?? 0 });
    }
  });

  const as = (...dataScope: DataScope) => service.as({ tenantId, roles: ['member'], dataScope });
  const read = async <T>(caller: ApiClient, path: string): Promise<T> => {
    const answer = await caller.get(`${PATH}${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body.data as T;
  };
  /** Names, in capitals where they are in the scope, with what hangs below in brackets. */
  const draw = (nodes: Node[]): string =>
    nodes
      .map(({ deptName, inScope, children }) => {
        const name = inScope === undefined ? `${deptName}?` : inScope ? deptName.toUpperCase() : deptName;
        return children?.length ? `${name}(${draw(children)})` : name;
      })
      .join(' ');
  const tree = async (caller: ApiClient, query = '') =>
    draw((await read<{ rows: Node[] }>(caller, `/tree?inScope=true${query}`)).rows);
  const list = async (caller: ApiClient, query = ''): Promise<Node[]> => {
    const rows: Node[] = [];
    for (let cursor = ''; ;) {
      const page = await read<PageOfNodes>(caller, `?inScope=true${query}${cursor}`);
      rows.push(...page.rows);
      if (page.nextCursor === null) return rows;
      cursor = `&cursor=${page.nextCursor}`;
    }
  };
  const flat = (rows: readonly Omit<Node, 'children'>[]) =>
    rows.map(({ deptName, inScope }) => (inScope ? deptName.toUpperCase() : deptName)).join('');
  const exported = async (caller: ApiClient) => {
    const { text } = await caller.get(`${PATH}/export?inScope=true`);
    return text.split('\n').flatMap((line) => (line ? [(JSON.parse(line) as { path: string }).path] : []));
  };

  it('a tree shows the departments in the scope and those above them, and says which are in it', async () => {
    const [{ a = 0, b = 0, d = 0, e = 0, f = 0, g = 0 }] = [ids];
    expect(await tree(as())).toBe('');
    expect(await tree(as(OWN))).toBe('');
    expect(await tree(as({ kind: 'all' }))).toBe('A(B(D E) C) F(G)');
    expect(await tree(api)).toBe('A(B(D E) C) F(G)');
    expect(await tree(as(below(b)))).toBe('a(B(D E))');
    expect(await tree(as(only(b), OWN))).toBe('a(B)');
    expect(await tree(as(only(d), below(f)))).toBe('a(b(D)) F(G)');
    expect(await tree(as(only(a), only(g)))).toBe('A f(G)');
    expect(await tree(as(below(b)), '&depth=2')).toBe('a(B)');
    expect(await tree(as(below(a), only(d, e)), `&rootId=${b}`)).toBe('B(D E)');
    expect(await tree(as(only(d)), `&rootId=${b}`)).toBe('b(D)');
    expect(await tree(as(only(d)), `&rootId=${f}`)).toBe('');
    expect(await tree(as(below(a)), '&deptName=d')).toBe('A(B(D))');
    expect(await tree(as(only(b)), '&deptName=d')).toBe('');
    const plain = await read<{ rows: Node[] }>(as(below(b)), '/tree');
    expect(draw(plain.rows)).toBe('a?(b?(d? e?) c?) f?(g?)');
  });

  it('a list and a file show the same departments, page by page', async () => {
    const { b = 0, d = 0, f = 0 } = ids;
    for (const limit of ['', '&limit=1', '&limit=3']) {
      expect(flat(await list(as(below(b)), limit))).toBe('aBDE');
      expect(flat(await list(as(only(d), below(f)), limit))).toBe('abDFG');
      expect([await list(as(OWN), limit), await list(as(), limit)]).toEqual([[], []]);
      expect(flat(await list(api, limit))).toBe('ABCDEFG');
    }
    expect(flat(await list(as(below(b)), `&parentId=0`))).toBe('a');
    expect(flat(await list(as(below(b)), `&ancestorId=${ids.a}&deptName=d`))).toBe('D');
    expect(flat(await list(as(below(b)), `&ids=${d},${f}`))).toBe('D');
    const { rows } = await read<PageOfNodes>(as(below(b)), '');
    expect([rows.length, rows.some((row) => 'inScope' in row)]).toEqual([7, false]);
    expect(await exported(as(below(b)))).toEqual(['a', 'a/b', 'a/b/d', 'a/b/e']);
    expect(await exported(as(only(d)))).toEqual(['a', 'a/b', 'a/b/d']);
    expect(await exported(as(OWN))).toEqual([]);
    expect(await exported(api)).toHaveLength(7);
  });

  it('departments that are deleted, or of the past, are in no scope', async () => {
    const { b = 0, d = 0 } = ids;
    for (const query of [
      '?inScope=true&asOf=1&parentId=0',
      '/tree?inScope=true&asOf=1',
      '?inScope=true&deleted=true',
    ])
      expectInvalid(await api.get(`${PATH}${query}`), 'inScope');
    await api.delete(`${PATH}/${d}`);
    expect(await tree(as(only(d)))).toBe('');
    expect(await tree(as(only(d), below(b)))).toBe('a(B(E))');
  });

  it('a scope of more departments than an answer holds is cut below, and a search still finds all of it', async () => {
    const { b = 0, f = 0 } = ids;
    const above = { parentId: b, ancestors: `0,${ids.a},${b}`, depth: 3 };
    await deptRows(service.dataSource, 5200, (n) => ({ tenantId, ...above, deptName: `x${n}` }));
    const shown = await read<{ rows: Node[]; truncated: boolean }>(
      as(below(b), only(f)),
      '/tree?inScope=true',
    );
    expect([shown.truncated, shown.rows.map(({ deptName }) => deptName)]).toEqual([true, ['a', 'f']]);
    expect(await tree(as(below(b)), '&deptName=x5199')).toBe('a(B(X5199))');
    expect(await exported(as(below(b)))).toHaveLength(5204);
    expect(await list(as(below(b)), '&limit=500')).toHaveLength(5204);
  });

  it('what is shown is what a model of the tree says, whatever the scope is', async () => {
    const chance = new Chance(faultsSeed('departments in scope'));
    const parents = new Map(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name, at) => [
        ids[name]!,
        [0, ids.a!, ids.a!, ids.b!, ids.b!, 0, ids.f!][at]!,
      ]),
    );
    for (let at = 0; at < 20; at += 1) {
      const parentId = chance.pick([0, ...parents.keys()]);
      parents.set(await aDept(api, { deptName: 'n', parentId, orderNum: chance.below(3) }), parentId);
    }
    const all = [...parents.keys()];
    const isWithin = (id: number, top: number): boolean =>
      id === top || (id !== 0 && isWithin(parents.get(id)!, top));
    for (let round = 0; round < times(200, 12); round += 1) {
      const scope = Array.from({ length: chance.below(4) }, () =>
        chance.pick([
          OWN,
          only(chance.pick(all), 99_999_999),
          below(chance.pick(all)),
          below(chance.pick(all), chance.pick(all)),
        ]),
      );
      const holds = (id: number) =>
        scope.some(
          (part) =>
            part.kind === 'depts' &&
            part.deptIds.some((top) => (part.below ? isWithin(id, top) : id === top)),
        );
      const root = chance.pick([0, 0, ...all]);
      const model = (within: number) =>
        all
          .filter(
            (id) =>
              (within === 0 || isWithin(id, within)) &&
              all.some(
                (held) => holds(held) && isWithin(held, id) && (within === 0 || isWithin(held, within)),
              ),
          )
          .map((id) => `${id} ${holds(id)}`)
          .sort();
      const tell = (rows: readonly Node[]): string[] =>
        rows.flatMap(({ deptId, inScope, children }) => [`${deptId} ${inScope}`, ...tell(children ?? [])]);
      const caller = as(...scope);
      const { rows } = await read<{ rows: Node[] }>(caller, `/tree?inScope=true&rootId=${root}`);
      expect(tell(rows).sort()).toEqual(model(root));
      expect(tell(await list(caller, `&limit=${1 + chance.below(9)}`)).sort()).toEqual(model(0));
      expect(await exported(caller)).toHaveLength(model(0).length);
      const moved = chance.pick(all);
      const to = chance.pick([0, ...all]);
      if (!isWithin(to, moved)) {
        await api.patch(`${PATH}/${moved}`, { parentId: to });
        parents.set(moved, to);
      }
    }
  });
});
