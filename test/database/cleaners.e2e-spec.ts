import { Cleanup } from '../../src/database/cleanup';
import { SessionEntity } from '../../src/server/auth/account.entity';
import { TenantryCommit } from '../../src/database/commit-log';
import { ApiClient } from '../../src/server/testing';
import { readExposition } from '../support/exposition';
import { freePort } from '../support/free-port';
import { recordQueries } from '../support/query-recorder';
import { bulkInsert } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DAY_MS = 24 * 60 * 60 * 1000;
const MOST = 500;
const EXPIRED = 1234;
const LIVE = 3;

/** It is kept 90 days after it began or was refreshed, 83 after that could be done again. */
const aSession = (expiresAt: Date, n: number) => ({
  ...{ sessionId: `session-${n}`, tenantId: '000000', userId: 1, refreshHash: '-' },
  ...{ createdAt: expiresAt, expiresAt, endedAt: null },
});
const aUnit = (createdAt: Date, n: number) => ({ unitId: `unit-${n}`, createdAt });

describe('the hourly cleaners', () => {
  let service: ServiceUnderTest;
  let scraper: ApiClient;

  beforeAll(async () => {
    const port = await freePort();
    service = await ServiceUnderTest.start({ METRICS_PORT: String(port) });
    scraper = new ApiClient(`http://127.0.0.1:${port}`);
  });
  afterAll(async () => {
    scraper.close();
    await service.stop();
  });

  const metrics = async () => readExposition((await scraper.get('/metrics')).text);
  /** Times of rows that are kept and of rows that are over, each so many milliseconds from now. */
  const times = (kept: number, expired: number) =>
    Array.from({ length: EXPIRED + LIVE }, (_, n) => new Date(Date.now() + (n < EXPIRED ? expired : kept)));
  const cleaners = {
    sessions: {
      run: () => service.app.get(Cleanup).run(),
      fill: () =>
        bulkInsert(service.dataSource, SessionEntity, times(-82 * DAY_MS, -83 * DAY_MS - 1000).map(aSession)),
      count: () => service.dataSource.manager.count(SessionEntity),
      table: 'tenantry_session',
    },
    units: {
      run: () => service.app.get(Cleanup).run(),
      fill: () => bulkInsert(service.dataSource, TenantryCommit, times(0, -DAY_MS - 1000).map(aUnit)),
      count: () => service.dataSource.manager.count(TenantryCommit),
      table: 'tenantry_unit',
    },
  };

  describe.each(Object.keys(cleaners) as (keyof typeof cleaners)[])('of %s', (name) => {
    const { run, fill, count, table } = cleaners[name];
    const removed = `tenantry_cleanup_removed_rows_total{table="${name}"}`;
    const failed = `tenantry_cleanup_failures_total{table="${name}"}`;

    it(`the cleaner of ${name} removes what is over, few rows a statement, and counts it`, async () => {
      const already = await count();
      await fill();
      const before = await metrics();
      expect([before.get(removed), before.get(failed)]).toEqual([0, 0]);
      const statements = await recordQueries(service.dataSource, run);
      const deletions = statements.filter(({ sql }) => sql.startsWith('DELETE'));
      expect(deletions.length).toBeGreaterThanOrEqual(Math.ceil(EXPIRED / MOST));
      for (const { parameters } of deletions) expect(new Set(parameters).size).toBeLessThanOrEqual(MOST + 1);
      expect(await count()).toBe(already + LIVE);
      expect((await metrics()).get(removed)).toBe(EXPIRED);
    });

    it(`the cleaner of ${name} tells of a failure, and works again the next time`, async () => {
      const before = (await metrics()).get(failed) ?? 0;
      await service.dataSource.query(`ALTER TABLE ${table} RENAME TO somewhere_else`);
      try {
        await run();
      } finally {
        await service.dataSource.query(`ALTER TABLE somewhere_else RENAME TO ${table}`);
      }
      expect((await metrics()).get(failed)).toBe(before + 1);
      const told = service.log.map((line) => JSON.parse(line) as Record<string, unknown>);
      const msg = 'the cleanup failed; it is tried again in an hour';
      expect(told).toContainEqual(expect.objectContaining({ level: 40, table: name, msg }));
      await run();
      expect((await metrics()).get(failed)).toBe(before + 1);
    });
  });
});
