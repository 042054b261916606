import { parseDatabaseUrl } from '../../src/database/database-url';
import { createDataSource } from '../../src/data-source';
import type { ApiClient } from '../../src/server/testing';
import { isTooLarge } from '../support/examined-databases';
import { fillWithDepts } from '../support/many-depts';
import { recordQueries, type RecordedQuery } from '../support/query-recorder';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const COUNT = 1_000_000;
/** As many rows as one statement of a list may look at, whatever the tenant's size. */
const FEW = 20_001;
const RARE = (COUNT + 99_999).toString(36);
/** Every list with every filter, for a tenant whose ids begin after `base`. */
const LISTS: Record<string, (base: number) => string> = {
  'all departments': () => '',
  'a page of 500': () => '?limit=500',
  'the top level': () => '?parentId=0',
  'children of one': (base) => `?limit=5&parentId=${base + 150}`,
  'a subtree of few': (base) => `?limit=5&ancestorId=${base + 150}`,
  'a hundredth of the tree': (base) => `?limit=5&ancestorId=${base + 7}`,
  'a name of its own': () => `?deptName=${RARE}`,
  'the start of some names': () => '?limit=5&deptName=%E9%83%A8255',
  'a name that all have': () => '?deptName=%E9%83%A8',
  'a name that none has': () => '?deptName=zzzzz',
  'a leader': () => '?limit=5&leader=leader%203',
  'the disabled ones': () => '?limit=5&status=1',
  'the others': () => '?status=0',
  'some ids': (base) => `?ids=${base + 1},${base + 500},${base + 999}`,
  'a subtree, a name and a status': (base) => `?limit=5&ancestorId=${base + 7}&deptName=%E9%83%A8&status=0`,
  'children with a leader that nobody is': (base) => `?parentId=${base + 150}&leader=nobody`,
  'a subtree and a leader that nobody is': (base) => `?ancestorId=${base + 7}&leader=nobody`,
  'a leader, and disabled': () => '?limit=5&leader=leader%200&status=1',
  'one level of the tree': () => '/tree?depth=1',
  'a name in the tree': () => `/tree?deptName=${RARE}`,
  ancestors: (base) => `/${base + 999}/ancestors`,
};

describe('a tenant of a million departments', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;
  /** The id before the first one of the tenant. */
  let base: number;

  beforeAll(async () => {
    await isTooLarge(service.database);
    // A connection of its own: the service's would be cut after ten seconds.
    const filler = await (await createDataSource(parseDatabaseUrl(service.database.url))).initialize();
    const tenantId = await aTenantRow(service.dataSource);
    base = await fillWithDepts(filler, tenantId, COUNT);
    api = service.as({ tenantId });
    await filler.query('ANALYZE TABLE tenantry_dept');
    await filler.destroy();
  });

  it.each(Object.keys(LISTS))(
    'a list among a million departments reads only from indexes, and only what it needs: %s',
    async (name) => {
      const path = PATH + LISTS[name]!(base);
      const first = await recordQueries(service.dataSource, async () => {
        expect((await api.get(path)).status).toBe(200);
      });
      await expectIndexes(name, first);
      const page = (await api.get(path)).body.data as { nextCursor?: string | null };
      if (!page.nextCursor) return;
      const join = path.includes('?') ? '&' : '?';
      const second = await recordQueries(service.dataSource, async () => {
        expect((await api.get(`${path}${join}cursor=${page.nextCursor!}`)).status).toBe(200);
      });
      await expectIndexes(`${name}, second page`, second);
    },
  );

  it('export, import and order among a million departments read only from indexes', async () => {
    const depts = (await api.get(`${PATH}/tree?depth=1`)).body.data as {
      rows: { deptId: number; deptName: string }[];
    };
    const line = { path: `${depts.rows[0]!.deptName}/new`, leader: 'x' };
    const queries = await recordQueries(service.dataSource, async () => {
      const type = { 'content-type': 'application/x-ndjson' };
      expect((await api.send('POST', `${PATH}/import`, JSON.stringify(line), type)).status).toBe(200);
      expect((await api.put(`${PATH}/order`, { deptIds: [base + 1, base + 2] })).status).toBe(200);
    });
    await expectIndexes('import and order', queries);
  });

  it('a rare name among a million departments is found page by page, with a bounded number of statements each', async () => {
    const path = `${PATH}?deptName=${RARE}`;
    const found: number[] = [];
    const readPage = async (cursor: string): Promise<string | null> => {
      const { rows, nextCursor } = (await api.get(`${path}${cursor}`)).body.data as {
        rows: { deptId: number }[];
        nextCursor: string | null;
      };
      found.push(...rows.map(({ deptId }) => deptId));
      return nextCursor === null ? null : `&cursor=${nextCursor}`;
    };
    const cursors: (string | null)[] = [''];
    for (let cursor = cursors.at(-1); typeof cursor === 'string'; cursor = cursors.at(-1)) {
      const at = cursor;
      const statements = await recordQueries(service.dataSource, async () =>
        cursors.push(await readPage(at)),
      );
      expect(statements.length).toBeLessThanOrEqual(100);
    }
    expect(found).toEqual([base + COUNT - 1]);
    expect(cursors.length).toBeLessThanOrEqual(42);
  });

  /** Runs each statement again and asks the server how it went about it. */
  async function expectIndexes(name: string, queries: RecordedQuery[]): Promise<void> {
    const statements = queries.filter(({ sql }) => /^(SELECT|UPDATE) .*tenantry_dept/s.test(sql));
    expect([name, statements.length > 0]).toEqual([name, true]);
    for (const { sql, parameters } of statements) {
      const analyse = sql.startsWith('SELECT') ? 'ANALYZE' : 'EXPLAIN';
      const plan = await service.dataSource.query<Record<string, string | null>[]>(
        `${analyse} ${sql}`,
        parameters,
      );
      for (const { table, type, key, r_rows: read, rows } of plan) {
        if (table === null || /^<|^n$/.test(table!)) continue;
        const told = `${name}: ${sql.slice(0, 300)} → ${table!} ${type ?? ''} ${key ?? 'no key'} ${read ?? rows ?? ''}`;
        expect([told, type === 'ALL' || key === null]).toEqual([told, false]);
        expect([told, Number(read ?? rows) <= FEW]).toEqual([told, true]);
      }
    }
  }
});
