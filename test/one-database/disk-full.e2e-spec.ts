import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

describe('a SQLite file that cannot grow', () => {
  const service = ServiceUnderTest.use();

  it('a full disk is an unavailable database, not a bug; reading goes on, and writing when there is room again', async () => {
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
  });
});
