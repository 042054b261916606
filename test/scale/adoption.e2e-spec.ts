import { DeptAdoption, DeptService, RequestContext } from '../../src/index';
import { aDept, throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { isTooLarge } from '../support/examined-databases';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase } from '../support/test-database';

const COUNT = 100_000;
const FIRST = 5_000_000;
const MOST_MS = 30_000;

describe.each([
  ['MariaDB', emptyDatabase],
  ['SQLite', throwAwayDatabase],
])('the adoption of 100,000 departments on %s', (kind, open: () => Promise<ThrowAwayDatabase>) => {
  let service: ServiceUnderTest;

  beforeAll(async () => {
    service = await ServiceUnderTest.on(await open());
    await isTooLarge(service.database);
  });
  afterAll(() => service.stop());

  /** Ten below each, so that there are six levels. */
  const rows = Array.from({ length: COUNT }, (_, n) => ({
    ...{ deptId: FIRST + n, parentId: n === 0 ? 0 : FIRST + Math.floor((n - 1) / 10) },
    ...{
      deptName: `部门 ${n}`,
      orderNum: n % 10,
      leader: '张三',
      phone: '13800138000',
      email: `${n}@example.com`,
    },
    ...{
      createBy: 'admin',
      createTime: new Date(Date.UTC(2020, n % 12, n % 28)),
      updateBy: '',
      updateTime: null,
    },
  }));

  it('100,000 departments are adopted within half a minute, while others are answered', async () => {
    const ctx = RequestContext.system(await aTenantRow(service.dataSource));
    const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
    await aDept(other);
    const adopting = { isOver: false };
    const waits: number[] = [];
    const reads = (async () => {
      while (!adopting.isOver) {
        const asked = performance.now();
        expect((await other.get('/system/dept-api')).status).toBe(200);
        waits.push(performance.now() - asked);
      }
    })();
    const began = performance.now();
    const report = await service.app.get(DeptAdoption, { strict: false }).run(ctx, rows);
    const took = performance.now() - began;
    adopting.isOver = true;
    await reads;
    const longest = Math.max(...waits);
    const told = `${kind}: ${Math.round(took)} ms, ${waits.length} reads meanwhile, the longest ${Math.round(longest)} ms`;
    process.stdout.write(`${told}\n`);
    expect(report).toEqual({ adopted: COUNT, leftOut: 0 });
    expect([told, took < MOST_MS, longest < 3000]).toEqual([told, true, true]);
    const ids = await service.app.get(DeptService, { strict: false }).idsBelow(ctx, FIRST);
    expect([ids.length, new Set(ids).size, ids[0]]).toEqual([COUNT, COUNT, FIRST]);
    expect(await aDept(other)).toBeGreaterThanOrEqual(FIRST + COUNT);
  });
});
