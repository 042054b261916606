import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { SqliteConnection } from '../../src/database/sqlite/sqlite.connection';
import { aDept } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';

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
    expect(await api.post('/system/dept-api', {})).toMatchObject({
      status: 503,
      body: { data: { reason: 'DATABASE_UNAVAILABLE' } },
    });
    expect((await api.get('/health/ready')).status).toBe(503);
    rmSync(path, { force: true });
    renameSync(`${path}.moved`, path);
    await aDept(api);
    await service.stop();
  });
});
