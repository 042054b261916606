import { get as httpGet } from 'node:http';
import { parseDatabaseUrl } from '../../src/database/database-url';
import { createDataSource } from '../../src/data-source';
import { type ApiClient, mintToken } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { isTooLarge } from '../support/examined-databases';
import { fillWithDepts } from '../support/many-depts';
import { memoryMb } from '../support/process-memory';
import { recordQueries, type RecordedQuery } from '../support/query-recorder';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { treeProblems } from '../support/tree-check';

const PATH = '/system/dept-api';
const SMALL = 1000;
const LARGE = 1_000_000;
/** As many rows as one statement of a list may look at, whatever the tenant's size. */
const FEW = 20_001;
const ROUNDS = 40;
/** Of wall-clock time on a machine that others use as well: the exact bound is what `npm run bench` holds. */
const BOUND = 2;
/**
 * Lists that cost more in a larger tenant, by design. A subtree has an order that no index has: the database reads its part of
 * an index and sorts it (10,000 departments here, 10 among the thousand). A rare name is looked for along the order of lists,
 * up to 25,000 departments for one page.
 */
const DEARER = new Set([
  'a hundredth of the tree',
  'a subtree, a name and a status',
  'a name of its own',
  'the start of some names',
  'a name that none has',
  'a name in the tree',
]);

/** Every list with every filter, for a tenant whose ids begin after `base` and whose departments are `count`. */
const LISTS: Record<string, (base: number, count: number) => string> = {
  'all departments': () => '',
  'a page of 500': () => '?limit=500',
  'the top level': () => '?parentId=0',
  'children of one': (base) => `?limit=5&parentId=${base + 150}`,
  'a subtree of few': (base) => `?limit=5&ancestorId=${base + 150}`,
  'a hundredth of the tree': (base) => `?limit=5&ancestorId=${base + 7}`,
  'a name of its own': (_, count) => `?deptName=${(count + 99_999).toString(36)}`,
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
  'a name in the tree': (_, count) => `/tree?deptName=${(count + 99_999).toString(36)}`,
  ancestors: (base) => `/${base + 999}/ancestors`,
};

describe('a tenant of a million departments', () => {
  const service = ServiceUnderTest.use();
  const tenants: {
    readonly api: ApiClient;
    readonly base: number;
    readonly count: number;
    readonly id: string;
  }[] = [];

  beforeAll(async () => {
    await isTooLarge(service.database);
    // A connection of its own: the service's would be cut after ten seconds.
    const filler = await (await createDataSource(parseDatabaseUrl(service.database.url))).initialize();
    for (const count of [SMALL, LARGE]) {
      const id = await aTenantRow(service.dataSource);
      const base = await fillWithDepts(filler, id, count);
      tenants.push({ api: service.as({ tenantId: id }), base, count, id });
    }
    await filler.query('ANALYZE TABLE tenantry_dept');
    await filler.destroy();
  });

  const [small, large] = [() => tenants[0]!, () => tenants[1]!];
  const pathIn = (name: string, { base, count }: { base: number; count: number }) =>
    PATH + LISTS[name]!(base, count);

  it('is sound as it was filled', async () => {
    expect(await treeProblems(service.dataSource, small().id)).toEqual([]);
  });

  it.each(Object.keys(LISTS))('reads only from indexes, and only what it needs: %s', async (name) => {
    const { api, ...tenant } = large();
    const first = await recordQueries(service.dataSource, async () => {
      expect((await api.get(pathIn(name, tenant))).status).toBe(200);
    });
    await expectIndexes(name, first);
    const page = (await api.get(pathIn(name, tenant))).body.data as { nextCursor?: string | null };
    if (!page.nextCursor) return;
    const join = pathIn(name, tenant).includes('?') ? '&' : '?';
    const second = await recordQueries(service.dataSource, async () => {
      expect((await api.get(`${pathIn(name, tenant)}${join}cursor=${page.nextCursor!}`)).status).toBe(200);
    });
    await expectIndexes(`${name}, second page`, second);
  });

  it('reads only from indexes when it is exported, imported into and put into order', async () => {
    const { api, base } = large();
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

  it('is exported whole, in memory that stays flat, also to a client that is slow', async () => {
    const child = await ChildService.start(service.database);
    const { id, count } = large();
    const headers = { authorization: `Bearer ${mintToken({ tenantId: id })}` };
    for (let n = 0; n < 200; n += 1) await child.as({ tenantId: id }).get(`${PATH}?limit=500`);
    const before = memoryMb(child.process.pid!, 'VmRSS');
    const start = Date.now();
    let lines = 0;
    await new Promise<void>((resolve, reject) => {
      httpGet(`${child.anonymous.baseUrl}${PATH}/export`, { headers }, (response) => {
        response.once('data', () => {
          response.pause();
          setTimeout(() => response.resume(), 3000);
        });
        response.on('data', (chunk: Buffer) => (lines += chunk.toString('latin1').split('\n').length - 1));
        response.on('end', resolve).on('error', reject);
      });
    });
    const grown = memoryMb(child.process.pid!, 'VmHWM') - before;
    console.log(
      `exported ${lines} lines in ${Date.now() - start - 3000} ms; memory grew by ${grown.toFixed(0)} MB`,
    );
    await child.stop();
    expect(lines).toBeGreaterThanOrEqual(count);
    // The file alone is about 100 MB, the rows several times that.
    expect(grown).toBeLessThanOrEqual(150);
  });

  it('finds a rare name page by page, with a bounded number of statements each', async () => {
    const { api, base, count } = large();
    const path = `${PATH}?deptName=${(count + 99_999).toString(36)}`;
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
    expect(found).toEqual([base + count - 1]);
    expect(cursors.length).toBeLessThanOrEqual(42);
  });

  it('costs on the first page of every list about what it costs among a thousand', async () => {
    const ratios: Record<string, string> = {};
    const missed: string[] = [];
    for (const name of Object.keys(LISTS).filter((each) => !DEARER.has(each))) {
      let best = Infinity;
      for (let tries = 0; tries < 3 && best > BOUND; tries += 1) best = Math.min(best, await ratioOf(name));
      ratios[name] = best.toFixed(2);
      if (best > BOUND) missed.push(`${name}: ${best.toFixed(2)}`);
    }
    console.log(ratios);
    expect(missed).toEqual([]);
  });

  /** Medians of requests to the two tenants in turns: what else the machine does hits both. */
  async function ratioOf(name: string): Promise<number> {
    const times = tenants.map(() => [] as number[]);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, tenant] of tenants.entries()) {
        const start = performance.now();
        const { status } = await tenant.api.get(pathIn(name, tenant));
        times[index]!.push(performance.now() - start);
        expect([name, status]).toEqual([name, 200]);
      }
    }
    const [few, many] = times.map((all) => all.sort((a, b) => a - b)[ROUNDS / 2]!);
    return many! / few!;
  }

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
