import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeptAdoption, DeptService, RequestContext } from '../../src/index';
import { aDept, throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { isTooLarge } from '../support/examined-databases';
import { runCli } from '../support/run-cli';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase } from '../support/test-database';

const COUNT = 100_000;
const MOST_MS = 30_000;

/** Ten below each, so that there are six levels. */
const deptsFrom = (first: number) =>
  Array.from({ length: COUNT }, (_, n) => ({
    ...{ deptId: first + n, parentId: n === 0 ? 0 : first + Math.floor((n - 1) / 10) },
    ...{ deptName: `部门 ${n}`, orderNum: n % 10, leader: '张三', email: `${n}@example.com` },
    ...{ createBy: 'admin', createTime: '2020-01-01 09:00:00', updateBy: '', updateTime: null },
  }));

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

  it('100,000 departments are adopted from a file within half a minute', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const file = join(service.database.folder, 'depts.ndjson');
    writeFileSync(
      file,
      deptsFrom(5_000_000)
        .map((dept) => JSON.stringify(dept))
        .join('\n'),
    );
    const began = performance.now();
    const { code, out } = await runCli(service.database, ['adopt', '--tenant', tenantId, '--file', file]);
    const told = `${kind}: ${Math.round(performance.now() - began)} ms`;
    process.stdout.write(`${told}\n`);
    expect([code, out]).toEqual([0, `${COUNT} departments were adopted, 0 deleted ones left out.\n`]);
    expect([told, performance.now() - began < MOST_MS]).toEqual([told, true]);
  });

  it('while 100,000 departments are adopted, others are answered; and all of them are below the first', async () => {
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
    const first = 6_000_000;
    const report = await service.app.get(DeptAdoption, { strict: false }).run(ctx, deptsFrom(first));
    adopting.isOver = true;
    await reads;
    expect(report).toEqual({ adopted: COUNT, leftOut: 0 });
    const told = `${kind}: ${waits.length} reads meanwhile, the longest ${Math.round(Math.max(...waits))} ms`;
    process.stdout.write(`${told}\n`);
    expect([told, Math.max(...waits) < 3000]).toEqual([told, true]);
    const ids = await service.app.get(DeptService, { strict: false }).idsBelow(ctx, first);
    expect([ids.length, new Set(ids).size, ids[0]]).toEqual([COUNT, COUNT, first]);
    expect(await aDept(other)).toBeGreaterThanOrEqual(first + COUNT);
  });
});
