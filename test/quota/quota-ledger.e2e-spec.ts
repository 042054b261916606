import { Cleanup } from '../../src/database/cleanup';
import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { aTenant, type ApiClient } from '../../src/server/testing';
import { TenantryQuota, TenantryQuotaEntry, TenantryReservation } from '../../src/tenant/quota/quota.entity';
import { breakOnPurpose } from '../support/examined-databases';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { commit, ledgerOf, numbersOf, outcome, refund, release, reserve, use } from '../support/quotas';
import { bulkInsert } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DAY_MS = 24 * 60 * 60 * 1000;
const kind = 'riskReport';

describe('the ledger of a quota', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ QUOTA_KEEP_DAYS: '100', LOG_LEVEL: 'warn' }, clock);
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service, {}, { riskReport: 1_000_000 })));

  const clean = async (): Promise<void> => {
    await service.app.get(Cleanup).run();
    expect(service.log.filter((line) => line.includes('the cleanup failed'))).toEqual([]);
  };
  const told = async () =>
    (await ledgerOf(api)).map(({ operation, amount, key }) => [operation, amount, key]);

  /** Entries of this many days ago, one for each. */
  async function entriesFrom(daysAgo: readonly number[]): Promise<void> {
    const now = clock.now().getTime();
    const rows = daysAgo.map((days, n) => ({
      ...{ tenantId, kind, seq: n + 1, operation: 'use' as const, amount: n + 1, key: `old ${n}` },
      ...{
        ofKey: null,
        available: 5,
        note: 'x',
        createBy: 'seed',
        createTime: new Date(now - days * DAY_MS),
      },
    }));
    for (let from = 0; from < rows.length; from += 1000)
      await bulkInsert(service.dataSource, TenantryQuotaEntry, rows.slice(from, from + 1000));
    const used = rows.reduce((sum, { amount }) => sum + amount, 0);
    await service.dataSource.manager.update(
      TenantryQuota,
      { tenantId, kind },
      { used, lastSeq: rows.length },
    );
  }

  it('the ledger keeps one sum for each month of what is too old; what is used stays the same', async () => {
    clock.set('2030-07-20T12:00:00Z');
    // In January, January, March, April 11 and 12; the last of them are of less than 100 days ago.
    await entriesFrom([190, 185, 120, 100.1, 99.9, 1]);
    await clean();
    expect(await told()).toEqual([
      ['use', 6, 'old 5'],
      ['use', 5, 'old 4'],
      ['month', 4, null],
      ['month', 3, null],
      ['month', 3, null],
    ]);
    const [, , month] = await ledgerOf(api);
    expect(month).toMatchObject({ note: null, ofKey: null, createBy: 'system' });
    expect(await numbersOf(api)).toEqual([1_000_000, 21, 0, 999_979]);
    // The rest of April joins its month.
    clock.pass(DAY_MS);
    await clean();
    await clean();
    expect(await told()).toEqual([
      ['use', 6, 'old 5'],
      ['month', 9, null],
      ['month', 3, null],
      ['month', 3, null],
    ]);
    expect(await numbersOf(api)).toEqual([1_000_000, 21, 0, 999_979]);
  });

  it('the ledger takes for a month what readers see as one', async () => {
    // In Shanghai it is the first of April and the last of April.
    clock.set('2030-08-20T12:00:00Z');
    const daysTo = (instant: string) => (clock.now().getTime() - Date.parse(instant)) / DAY_MS;
    await entriesFrom(['2030-03-31T17:00:00Z', '2030-04-30T15:00:00Z', '2030-04-30T17:00:00Z'].map(daysTo));
    await clean();
    expect(await told()).toEqual([
      ['month', 3, null],
      ['month', 3, null],
    ]);
  });

  it('the ledger folds many entries in small transactions', async () => {
    clock.set('2030-07-20T12:00:00Z');
    await entriesFrom(Array.from({ length: 1300 }, () => 120));
    await use(api, 'new');
    await clean();
    expect(await told()).toEqual([
      ['use', 1, 'new'],
      ['month', (1300 * 1301) / 2, null],
    ]);
  });

  it('a key can be used again when its entry is folded, and nothing of it is refunded', async () => {
    await use(api, 'a', 5);
    clock.pass(60 * DAY_MS);
    await refund(api, 'a', 'r', 2);
    clock.pass(60 * DAY_MS);
    await clean();
    expect(await told()).toEqual([
      ['refund', -2, 'r'],
      ['month', 5, null],
    ]);
    for (const amount of [undefined, 1])
      expect(outcome(await refund(api, 'a', 'q', amount))).toBe('QUOTA_KEY_NOT_FOUND');
    expect(outcome(await use(api, 'a', 7))).toBe(200);
    expect(await numbersOf(api)).toEqual([1_000_000, 10, 0, 999_990]);
    clock.pass(120 * DAY_MS);
    await clean();
    expect((await told()).every(([operation]) => operation === 'month')).toBe(true);
    expect(await numbersOf(api)).toEqual([1_000_000, 10, 0, 999_990]);
  });

  it('reservations that are long over are forgotten, and those that have run out are marked', async () => {
    await reserve(api, 'committed', 1);
    await commit(api, 'committed');
    await reserve(api, 'released', 2);
    await release(api, 'released');
    await reserve(api, 'ran out', 3, 10);
    clock.pass(60_000);
    const states = async () => {
      const rows = await service.dataSource.manager.findBy(TenantryReservation, { tenantId });
      return rows.map(({ key, state }) => `${key}: ${state}`).sort();
    };
    await clean();
    expect(await states()).toEqual(['committed: committed', 'ran out: expired', 'released: released']);
    const counter = await service.dataSource.manager.findOneByOrFail(TenantryQuota, { tenantId, kind });
    expect([counter.used, counter.reserved]).toEqual([1, 0]);
    clock.pass(101 * DAY_MS);
    await reserve(api, 'new', 4, 86_400);
    await clean();
    expect(await states()).toEqual(['new: active']);
    expect(outcome(await reserve(api, 'ran out', 9))).toBe(200);
    expect(await numbersOf(api)).toEqual([1_000_000, 1, 13, 999_986]);
  });

  it('the ledger is cleaned for all tenants, though one of them is deleted', async () => {
    const gone = await aTenant(service.as(), { quotaBo: { riskReport: 10 } });
    const before = service.as({ tenantId: gone.tenantId });
    await use(before, 'a', 2);
    await use(before, 'b', 2);
    await reserve(before, 'c', 1, 10);
    await service.as().delete(`/system/tenant-api/${gone.id}`);
    clock.pass(60 * DAY_MS);
    await use(api, 'a');
    await reserve(api, 'b', 1, 10);
    clock.pass(101 * DAY_MS);
    await clean();
    expect(await told()).toEqual([['month', 1, null]]);
    expect(await service.dataSource.manager.countBy(TenantryReservation, { tenantId, state: 'active' })).toBe(
      0,
    );
    const entries = await service.dataSource.manager.findBy(TenantryQuotaEntry, { tenantId: gone.tenantId });
    expect(entries.map(({ operation, amount }) => [operation, amount])).toEqual([['month', 4]]);
  });
});

describe('the doctor of quotas', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeAll(() => breakOnPurpose(service.database));
  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(service, {}, { riskReport: 10 }));
    await use(api, 'a', 3);
    await refund(api, 'a', 'b', 1);
    await reserve(api, 'c', 4);
    expect(await examine()).toEqual({ findings: [], repaired: [], notes: [] });
  });

  const examine = (repair = false) => new ServiceDoctor(service.dataSource).examine({ repair });
  const counters = () => service.dataSource.manager.getRepository(TenantryQuota);

  it.each([
    ['used', { used: 1 }],
    ['reserved', { reserved: 0 }],
    ['total', { total: 100 }],
    ['number of the last entry', { lastSeq: 1 }],
  ])('the doctor finds a wrong %s of a quota, and counts anew', async (_, wrong) => {
    await counters().update({ tenantId, kind }, wrong);
    const { findings } = await examine();
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(new RegExp(`^quota ${tenantId} riskReport: its counter has `));
    const { findings: left, repaired } = await examine(true);
    expect([left, repaired]).toEqual([[], findings]);
    expect(await examine()).toEqual({ findings: [], repaired: [], notes: [] });
    expect(await numbersOf(api)).toEqual([10, 2, 4, 4]);
    expect(outcome(await use(api, 'd', 5))).toBe('QUOTA_EXCEEDED');
    expect(outcome(await use(api, 'd', 4))).toBe(200);
    expect(outcome(await commit(api, 'c'))).toBe(200);
    expect(await examine()).toEqual({ findings: [], repaired: [], notes: [] });
  });

  it('the doctor finds that a quota has no counter, and makes it', async () => {
    await counters().delete({ tenantId, kind });
    const missing = [`quota ${tenantId} riskReport: it has no counter`];
    expect((await examine()).findings).toEqual(missing);
    expect((await examine(true)).repaired).toEqual(missing);
    expect(await numbersOf(api)).toEqual([10, 2, 4, 4]);
    expect(outcome(await use(api, 'd', 4))).toBe(200);
    expect(await examine()).toEqual({ findings: [], repaired: [], notes: [] });
  });
});
