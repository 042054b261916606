import { Cleanup } from '../../src/database/cleanup';
import { TenantryChange } from '../../src/journal/change-log';
import { aDept, type ApiClient } from '../../src/server/testing';
import { CHANGES, changePage, cursorNow } from '../support/follower';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { recordQueries } from '../support/query-recorder';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEPTS = '/system/dept-api';

describe('the retention of the journal', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ JOURNAL_KEEP_DAYS: '10' }, clock);
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  const clean = () => service.app.get(Cleanup).run();
  const versions = async () => {
    const rows = await service.dataSource.manager.find(TenantryChange, {
      where: { tenantId },
      order: { version: 'ASC', seq: 'ASC' },
    });
    return rows.map(({ version }) => version);
  };

  it('the retention removes what is older, but for the newest of it, and refuses cursors from before', async () => {
    const never = service.as({ tenantId: await aTenantRow(service.dataSource) });
    const before = await cursorNow(api);
    const ofOther = await cursorNow(never);
    for (let n = 0; n < 3; n += 1) await aDept(api);
    const atThree = await cursorNow(api);
    clock.pass(11 * DAY_MS);
    await aDept(api);
    const atFour = await cursorNow(api);
    await clean();
    expect(await versions()).toEqual([3, 4]);
    const gone = await api.get(`${CHANGES}?after=${before}`);
    expect([gone.status, gone.refusal.reason]).toEqual([410, 'CURSOR_GONE']);
    expect((await changePage(api, { after: atThree })).rows.map(({ version }) => version)).toEqual([4]);
    expect((await changePage(api, { after: atFour })).rows).toEqual([]);
    expect((await changePage(api)).rows.map(({ version }) => version)).toEqual([3, 4]);
    expect((await changePage(never, { after: ofOther })).rows).toEqual([]);
  });

  it('the retention keeps the last entry of a tenant that has long been quiet', async () => {
    await aDept(api);
    await aDept(api);
    clock.pass(30 * DAY_MS);
    await clean();
    await clean();
    expect(await versions()).toEqual([2]);
    await aDept(api);
    expect((await changePage(api)).rows.map(({ version, prev }) => [version, prev])).toEqual([
      [2, 1],
      [3, 2],
    ]);
  });

  it('the retention removes many entries in small statements', async () => {
    const file = Array.from({ length: 1200 }, (_, n) => JSON.stringify({ path: `d${n}` })).join('\n');
    await api.post(`${DEPTS}/import`, file, { 'content-type': 'application/x-ndjson' });
    await aDept(api);
    clock.pass(11 * DAY_MS);
    const statements = await recordQueries(service.dataSource, clean);
    expect(statements.filter(({ sql }) => sql.startsWith('DELETE')).length).toBeGreaterThanOrEqual(3);
    expect(await versions()).toEqual([2]);
  });
});
