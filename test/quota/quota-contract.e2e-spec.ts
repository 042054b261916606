import { type Answer, aTenant, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import {
  commit,
  ledgerOf,
  numbersOf,
  outcome,
  quotaOf,
  QUOTAS,
  refund,
  release,
  reserve,
  RISK,
  use,
} from '../support/quotas';
import { expectRefused } from '../support/refusals';
import { aTenantWith } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const TENANTS = '/system/tenant-api';

const isReplayed = ({ headers }: Answer): boolean => headers['idempotent-replayed'] === 'true';

describe('quotas', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({}, clock);
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(service, { username: 'ada' }, { riskReport: 10, merchant: -1 }));
  });

  describe('reading', () => {
    it('all six quotas of the own tenant are read by every role', async () => {
      const member = service.as({ tenantId, roles: ['member'] });
      const none = { total: 0, used: 0, reserved: 0, available: 0 };
      const expected = [
        { kind: 'enterpriseQuery', ...none },
        { kind: 'annualReportQuery', ...none },
        { kind: 'chainReport', ...none },
        { kind: 'businessReport', ...none },
        { kind: 'riskReport', ...none, total: 10, available: 10 },
        { kind: 'merchant', ...none, total: -1, available: null },
      ];
      for (const each of [api, member]) expect((await each.get(QUOTAS)).body.data).toEqual(expected);
    });

    it('quotas of tenants at and below the own are read by administrators, and of no others', async () => {
      const quotaBo = { riskReport: 3 };
      const below = await aTenant(api, { quotaBo });
      const foreign = await aTenantWith(service.dataSource, {});
      const totalOf = async (id: string) =>
        ((await api.get(`${QUOTAS}/${id}`)).body.data as { kind: string; total: number }[])[4];
      expect(await totalOf(below.id)).toMatchObject({ kind: 'riskReport', total: 3 });
      expect(await totalOf(tenantId)).toMatchObject({ total: 10 });
      expectRefused(await api.get(`${QUOTAS}/${foreign}`), 404, 'TENANT_NOT_FOUND');
      expectRefused(await api.get(`${QUOTAS}/1`), 404, 'TENANT_NOT_FOUND');
      await service.as({ tenantId: below.tenantId }).post(`${RISK}/use`, { key: 'k' });
      expect(await totalOf(below.id)).toMatchObject({ used: 1, available: 2 });
      expect(await numbersOf(api)).toEqual([10, 0, 0, 10]);
    });
  });

  it('quotas are unknown under other names, in every route', async () => {
    for (const kind of ['riskreport', 'toString', '__proto__', 'risk%20Report', '%00']) {
      const at = `${QUOTAS}/${kind}`;
      const sent = await Promise.all([
        api.post(`${at}/use`, { key: 'k' }),
        api.post(`${at}/reservations`, { key: 'k', amount: 1, seconds: 1 }),
        api.post(`${at}/reservations/k/commit`, undefined),
        api.delete(`${at}/reservations/k`),
        api.post(`${at}/refund`, { ofKey: 'k', key: 'r' }),
        api.get(`${at}/entries`),
      ]);
      for (const answer of sent) expectRefused(answer, 404, 'QUOTA_KIND_UNKNOWN', { told: kind });
    }
  });

  describe('using', () => {
    it('a quota is used down to the last, and not beyond', async () => {
      expect(outcome(await use(api, 'a', 9))).toBe(200);
      const answer = await use(api, 'b', 2);
      expectRefused(answer, 409, 'QUOTA_EXCEEDED');
      expect(answer.refusal.available).toBe(1);
      expect(await numbersOf(api)).toEqual([10, 9, 0, 1]);
      expect(outcome(await use(api, 'b', 1))).toBe(200);
      expect((await use(api, 'c')).refusal.available).toBe(0);
      expect(await numbersOf(api)).toEqual([10, 10, 0, 0]);
    });

    it('a quota is used one at a time when no amount is sent', async () => {
      for (const body of [{ key: 'a' }, { key: 'b', amount: null }])
        expect((await api.post(`${RISK}/use`, body)).body.data).toMatchObject({ amount: 1 });
    });

    it('a quota is used once for a key: the same again gives the first answer', async () => {
      const first = await api.post(`${RISK}/use`, { key: 'k', amount: 3, note: 'why' });
      await use(api, 'other', 7);
      const again = await use(api, ' k ', 3);
      expect(again.body.data).toEqual(first.body.data);
      expect([first, again].map(isReplayed)).toEqual([false, true]);
      expect(first.body.data).toMatchObject({
        key: 'k',
        amount: 3,
        available: 7,
        note: 'why',
        createBy: 'ada',
      });
      expectRefused(await use(api, 'k', 4), 422, 'QUOTA_KEY_REUSED');
      expectRefused(await reserve(api, 'k', 3), 422, 'QUOTA_KEY_REUSED');
      expect(await numbersOf(api)).toEqual([10, 10, 0, 0]);
      // A key belongs to one kind and one tenant, and knows small and capital letters.
      expect(outcome(await api.post(`${QUOTAS}/merchant/use`, { key: 'k', amount: 4 }))).toBe(200);
      expect(outcome(await use(api, 'K', 1))).toBe('QUOTA_EXCEEDED');
    });

    it('an unlimited quota is used without end', async () => {
      const most = 2 ** 31 - 1;
      for (const key of ['a', 'b', 'c'])
        expect((await api.post(`${QUOTAS}/merchant/use`, { key, amount: most })).body.data).toMatchObject({
          available: null,
        });
      expect(await numbersOf(api, 'merchant')).toEqual([-1, 3 * most, 0, null]);
    });

    it.each([
      [{}, 'key'],
      [{ key: '' }, 'key'],
      [{ key: ' ' }, 'key'],
      [{ key: 'k'.repeat(256) }, 'key'],
      [{ key: 7 }, 'key'],
      [{ key: 'k', amount: 0 }, 'amount'],
      [{ key: 'k', amount: -1 }, 'amount'],
      [{ key: 'k', amount: 1.5 }, 'amount'],
      [{ key: 'k', amount: 2 ** 31 }, 'amount'],
      [{ key: 'k', note: 'n'.repeat(501) }, 'note'],
    ])('a use is refused with %j', async (body, field) => {
      const answer = await api.post(`${RISK}/use`, body);
      expectRefused(answer, 400, 'INVALID_INPUT');
      expect(answer.refusal.fields?.map((each) => each.field)).toEqual([field]);
    });

    it('a quota is used under the longest key, of whatever letters', async () => {
      const key = '😀'.repeat(127);
      expect(outcome(await reserve(api, key))).toBe(200);
      expect(outcome(await commit(api, key))).toBe(200);
      expect((await ledgerOf(api)).map((each) => each.key)).toEqual([key]);
    });
  });

  describe('reserving', () => {
    it('a reservation is committed as a whole or in part: the rest is released', async () => {
      await reserve(api, 'a', 4);
      expect(await numbersOf(api)).toEqual([10, 0, 4, 6]);
      expectRefused(await reserve(api, 'b', 7), 409, 'QUOTA_EXCEEDED');
      await reserve(api, 'b', 6);
      expect((await use(api, 'c')).refusal.available).toBe(0);
      const committed = await commit(api, 'a', 1);
      expect(committed.body.data).toMatchObject({ operation: 'commit', key: 'a', amount: 1, available: 3 });
      expect(await numbersOf(api)).toEqual([10, 1, 6, 3]);
      expect((await commit(api, 'b')).body.data).toMatchObject({ amount: 6, available: 3 });
      for (const key of ['a', 'b']) {
        expectRefused(await commit(api, key), 409, 'RESERVATION_OVER');
        expectRefused(await release(api, key), 409, 'RESERVATION_OVER');
        expectRefused(await reserve(api, key, key === 'a' ? 4 : 6), 409, 'RESERVATION_OVER');
        expectRefused(await use(api, key), 422, 'QUOTA_KEY_REUSED');
      }
      expect(await numbersOf(api)).toEqual([10, 7, 0, 3]);
    });

    it('a quota is reserved once for a key, with the first answer', async () => {
      const first = await reserve(api, 'a', 4, 60);
      clock.pass(1000);
      const again = await reserve(api, 'a', 4, 90);
      expect(again.body.data).toEqual(first.body.data);
      expect([first, again].map(isReplayed)).toEqual([false, true]);
      expectRefused(await reserve(api, 'a', 5), 422, 'QUOTA_KEY_REUSED');
      expectRefused(await use(api, 'a', 4), 422, 'QUOTA_KEY_REUSED');
      expect(await numbersOf(api)).toEqual([10, 0, 4, 6]);
    });

    it('a reservation is released', async () => {
      await reserve(api, 'a/b?', 4);
      expect(outcome(await release(api, 'a/b?'))).toBe(200);
      expect(await numbersOf(api)).toEqual([10, 0, 0, 10]);
      expectRefused(await commit(api, 'a/b?'), 409, 'RESERVATION_OVER');
      expectRefused(await release(api, 'nothing'), 404, 'RESERVATION_NOT_FOUND');
      expectRefused(await commit(api, 'nothing'), 404, 'RESERVATION_NOT_FOUND');
      expect(await ledgerOf(api)).toEqual([]);
    });

    it('a reservation is not committed beyond what was reserved', async () => {
      await reserve(api, 'a', 4);
      expectRefused(await commit(api, 'a', 5), 400, 'INVALID_INPUT');
      expectRefused(await commit(api, 'a', 0), 400, 'INVALID_INPUT');
      expect(await numbersOf(api)).toEqual([10, 0, 4, 6]);
    });

    it('a reservation is committed once for a request that is sent again', async () => {
      await reserve(api, 'a', 4);
      const headers = { 'idempotency-key': 'once' };
      const send = () => api.post(`${RISK}/reservations/a/commit`, { amount: 2 }, headers);
      expect((await send()).body).toEqual((await send()).body);
      expect(await numbersOf(api)).toEqual([10, 2, 0, 8]);
    });

    it.each([
      [{ key: 'k', amount: 1 }, 'seconds'],
      [{ key: 'k', seconds: 1 }, 'amount'],
      [{ key: 'k', amount: 1, seconds: 0 }, 'seconds'],
      [{ key: 'k', amount: 1, seconds: 86_401 }, 'seconds'],
    ])('a reservation is refused with %j', async (body, field) => {
      const answer = await api.post(`${RISK}/reservations`, body);
      expectRefused(answer, 400, 'INVALID_INPUT');
      expect(answer.refusal.fields?.map((each) => each.field)).toEqual([field]);
    });

    it('a reservation lasts until it runs out, which is told at once', async () => {
      await reserve(api, 'a', 4, 10);
      await reserve(api, 'b', 3, 86_400);
      clock.pass(9000);
      expect(await numbersOf(api)).toEqual([10, 0, 7, 3]);
      clock.pass(1001);
      expect(await numbersOf(api)).toEqual([10, 0, 3, 7]);
      expectRefused(await commit(api, 'a'), 409, 'RESERVATION_OVER');
      expectRefused(await release(api, 'a'), 409, 'RESERVATION_OVER');
      expectRefused(await reserve(api, 'a', 4), 409, 'RESERVATION_OVER');
      expect(outcome(await use(api, 'c', 8))).toBe('QUOTA_EXCEEDED');
      expect(outcome(await use(api, 'c', 7))).toBe(200);
      expect(await numbersOf(api)).toEqual([10, 7, 3, 0]);
    });

    it('reservations never give more than the total, though the clock jumps', async () => {
      const hour = 3_600_000;
      await reserve(api, 'a', 6, 60);
      clock.pass(hour);
      // Nobody has marked it yet: to a clock that goes back it is there again.
      expect(await numbersOf(api)).toEqual([10, 0, 0, 10]);
      clock.pass(-hour);
      expect(await numbersOf(api)).toEqual([10, 0, 6, 4]);
      clock.pass(hour);
      expect(outcome(await use(api, 'b', 10))).toBe(200);
      clock.pass(-hour);
      expect(await numbersOf(api)).toEqual([10, 10, 0, 0]);
      expectRefused(await commit(api, 'a'), 409, 'RESERVATION_OVER');
      clock.pass(-hour);
      expectRefused(await commit(api, 'a'), 409, 'RESERVATION_OVER');
      expect(await numbersOf(api)).toEqual([10, 10, 0, 0]);
      clock.pass(hour);
    });
  });

  describe('refunding', () => {
    it('a refund gives back at most what a key has spent, in all', async () => {
      await use(api, 'a', 5);
      const first = await refund(api, 'a', 'r1', 2);
      expect(first.body.data).toMatchObject({
        operation: 'refund',
        amount: -2,
        key: 'r1',
        ofKey: 'a',
        available: 7,
      });
      const again = await refund(api, 'a', 'r1', 2);
      expect(again.body.data).toEqual(first.body.data);
      expect([first, again].map(isReplayed)).toEqual([false, true]);
      expectRefused(await refund(api, 'a', 'r1', 3), 422, 'QUOTA_KEY_REUSED');
      expectRefused(await refund(api, 'b', 'r1', 2), 422, 'QUOTA_KEY_REUSED');
      expectRefused(await refund(api, 'a', 'a', 2), 422, 'QUOTA_KEY_REUSED');
      expectRefused(await use(api, 'r1', 2), 422, 'QUOTA_KEY_REUSED');
      expectRefused(await refund(api, 'a', 'r2', 4), 409, 'REFUND_TOO_LARGE');
      expect((await refund(api, 'a', 'r2')).body.data).toMatchObject({ amount: -3, available: 10 });
      expect((await refund(api, 'a', 'r2')).body.data).toMatchObject({ amount: -3 });
      expectRefused(await refund(api, 'a', 'r3'), 409, 'REFUND_TOO_LARGE');
      expectRefused(await refund(api, 'a', 'r3', 1), 409, 'REFUND_TOO_LARGE');
      expect(await numbersOf(api)).toEqual([10, 0, 0, 10]);
      // What was given back can be spent again, but not under the old key.
      expect((await use(api, 'a', 5)).body.data).toMatchObject({ seq: 1 });
      expect(await numbersOf(api)).toEqual([10, 0, 0, 10]);
    });

    it('a refund is of a committed reservation, but not of one that is none', async () => {
      await reserve(api, 'a', 4);
      expectRefused(await refund(api, 'a', 'r1'), 404, 'QUOTA_KEY_NOT_FOUND');
      await commit(api, 'a', 3);
      expect((await refund(api, 'a', 'r1')).body.data).toMatchObject({ amount: -3 });
      expectRefused(await refund(api, 'nothing', 'r2', 1), 404, 'QUOTA_KEY_NOT_FOUND');
      await reserve(api, 'b', 1);
      expectRefused(await refund(api, 'a', 'b', 1), 422, 'QUOTA_KEY_REUSED');
    });

    it('a refund of a refund is refused: that would spend beyond the total', async () => {
      await use(api, 'a', 10);
      await refund(api, 'a', 'r1', 10);
      await use(api, 'b', 10);
      for (const amount of [undefined, 1, 10])
        expectRefused(await refund(api, 'r1', `of a refund ${amount}`, amount), 409, 'REFUND_TOO_LARGE');
      expect(await numbersOf(api)).toEqual([10, 10, 0, 0]);
    });
  });

  it('a quota has a ledger: a page, the newest first, with who and when', async () => {
    await use(api, 'a', 1);
    await reserve(api, 'b', 2);
    await commit(service.as({ tenantId, username: 'bob' }), 'b');
    await refund(api, 'a', 'c');
    const [refunded, committed, used] = await ledgerOf(api);
    expect(refunded).toMatchObject({ operation: 'refund', amount: -1, key: 'c', ofKey: 'a', available: 8 });
    expect(committed).toMatchObject({
      operation: 'commit',
      amount: 2,
      key: 'b',
      ofKey: null,
      createBy: 'bob',
    });
    expect(used).toMatchObject({ operation: 'use', amount: 1, key: 'a', available: 9, createBy: 'ada' });
    expect(used?.createTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    const page = async (rest: string) =>
      (await api.get(`${RISK}/entries?limit=2${rest}`)).body.data as {
        rows: { key: string }[];
        nextCursor: string | null;
      };
    const first = await page('');
    // What comes meanwhile is not on the next page.
    await use(api, 'd');
    const second = await page(`&cursor=${first.nextCursor}`);
    expect([...first.rows, ...second.rows].map(({ key }) => key)).toEqual(['c', 'b', 'a']);
    expect(second.nextCursor).toBeNull();
    expectRefused(
      await api.get(`${QUOTAS}/merchant/entries?cursor=${first.nextCursor}`),
      400,
      'INVALID_INPUT',
    );
  });

  it('a quota keeps what is spent when the total is lowered below it, and has nothing left', async () => {
    const root = service.as();
    const setTotal = (riskReport: number) =>
      root.patch(`${TENANTS}/${tenantId}`, { quotaBo: { riskReport } });
    await use(api, 'a', 6);
    await reserve(api, 'b', 2);
    expect(outcome(await setTotal(5))).toBe(200);
    expect(await numbersOf(api)).toEqual([5, 6, 2, 0]);
    expect((await use(api, 'c')).refusal.available).toBe(0);
    // What is reserved may still be spent.
    expect((await commit(api, 'b')).body.data).toMatchObject({ available: 0 });
    await setTotal(0);
    expect(await numbersOf(api)).toEqual([0, 8, 0, 0]);
    await setTotal(-1);
    expect(await numbersOf(api)).toEqual([-1, 8, 0, null]);
    expect((await use(api, 'c', 5)).body.data).toMatchObject({ available: null });
    await setTotal(14);
    expect(await numbersOf(api)).toEqual([14, 13, 0, 1]);
    const { body } = await root.get(`${TENANTS}/${tenantId}`);
    expect(body.data).toMatchObject({ quotaBo: { riskReport: 14 } });
    // The journal has the totals, and no single spending.
    const { rows } = (await root.get(`${TENANTS}/${tenantId}/history`)).body.data as { rows: unknown[] };
    expect(rows).toHaveLength(4);
  });

  it('quotas of a new tenant are those it was made with, and a deleted one spends nothing', async () => {
    const quotaBo = { riskReport: 2 };
    const made = await aTenant(service.as(), { quotaBo });
    const own = service.as({ tenantId: made.tenantId });
    await use(own, 'a');
    await reserve(own, 'b');
    await service.as().delete(`${TENANTS}/${made.id}`);
    expectRefused(await use(own, 'c'), 403, 'TENANT_DELETED');
    expectRefused(await service.as().get(`${QUOTAS}/${made.id}`), 404, 'TENANT_NOT_FOUND');
    await service.as().post(`${TENANTS}/${made.id}/restore`, undefined);
    expect(await quotaOf(own)).toMatchObject({ total: 2, used: 1, reserved: 1 });
  });
});
