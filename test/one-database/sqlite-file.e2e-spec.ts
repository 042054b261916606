import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { SqliteConnection } from '../../src/database/sqlite/sqlite.connection';
import { aDept } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

describe('the SQLite file', () => {
  it('the SQLite file has everything in itself once the service has stopped', async () => {
    const service = await ServiceUnderTest.start();
    await aDept(service.as());
    const path = service.database.url.slice('sqlite:'.length);
    await service.dataSource.destroy();
    copyFileSync(path, `${path}.copy`);
    const copy = new SqliteConnection(`${path}.copy`);
    expect(copy.prepare('SELECT count(*) AS count FROM tenantry_dept').all()).toEqual([{ count: 1 }]);
    copy.close();
    await service.dataSource.initialize();
    await service.stop();
  });

  it('the SQLite file takes no writes that would be lost: when it was moved away they are a 503', async () => {
    const service = await ServiceUnderTest.start();
    const api = service.as();
    await aDept(api);
    const path = service.database.url.slice('sqlite:'.length);
    renameSync(path, `${path}.moved`);
    expect(await api.post(PATH, {})).toMatchObject({
      status: 503,
      body: { data: { reason: 'DATABASE_UNAVAILABLE' } },
    });
    expect((await api.get('/health/ready')).status).toBe(503);
    rmSync(path, { force: true });
    renameSync(`${path}.moved`, path);
    await aDept(api);
    await service.stop();
  });

  it('a full disk is an unavailable database, not a bug; reading goes on, and writing when there is room again', async () => {
    const service = await ServiceUnderTest.start();
    const api = service.as();
    const made = await api.post(PATH, { deptName: 'before' });
    await service.dataSource.query('PRAGMA max_page_count = 1'); // SQLite takes it for: not beyond what it has now
    const answers = [];
    // What is free inside the file is used up first.
    for (let n = 0; n < 500 && answers.at(-1)?.status !== 503; n += 1) {
      answers.push(await api.post(PATH, { deptName: `${n} `.padEnd(30, '部') }));
      expect([200, 503]).toContain(answers.at(-1)!.status);
    }
    expect(answers.at(-1)!.refusal.reason).toBe('DATABASE_UNAVAILABLE');
    expect((await api.get(made.headers.location!)).status).toBe(200);
    await service.dataSource.query('PRAGMA max_page_count = 1000000');
    expect((await api.post(PATH, { deptName: 'after' })).status).toBe(200);
    const rows = await service.dataSource.query<{ n: number }[]>('SELECT COUNT(*) AS n FROM tenantry_dept');
    expect(rows[0]!.n).toBe(answers.filter(({ status }) => status === 200).length + 2);
    await service.stop();
  });
});
