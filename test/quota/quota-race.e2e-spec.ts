import { TenantryQuota } from '../../src/tenant/quota/quota.entity';
import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { isWaitingForLock } from '../support/lock-waits';
import { times } from '../support/long-run';
import {
  commit,
  ledgerOf,
  numbersOf,
  outcome,
  quotaOf,
  refund,
  release,
  reserve,
  use,
} from '../support/quotas';
import { aTenantWith } from '../support/seeds';
import { onServer } from '../support/test-database';
import { PAIRS, TwoServices } from '../support/two-services';
import { until } from '../support/until';
import { resendWhenBusy } from '../support/when-busy';

const ROUNDS = times(50, 6);
const TOTAL = times(500, 100);

describe.each(PAIRS)('quotas that two processes spend at once: %s', (pair) => {
  let two: TwoServices;
  let tenantId: string;
  let left: ApiClient;
  let right: ApiClient;

  beforeAll(async () => {
    two = await TwoServices.start(pair);
  });
  afterAll(() => two.stop());

  async function having(riskReport: number): Promise<void> {
    tenantId = await aTenantWith(two.dataSource, { riskReport });
    [left, right] = two.as({ tenantId });
  }

  /** At both processes in turn, all at once; gives how often each outcome was. */
  async function atOnce(
    count: number,
    send: (api: ApiClient, n: number) => Promise<Answer>,
  ): Promise<Record<string, number>> {
    const one = (n: number) => resendWhenBusy(() => send(n % 2 ? left : right, n));
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => one(n)));
    const counts: Record<string, number> = {};
    for (const each of answers.map(outcome)) counts[each] = (counts[each] ?? 0) + 1;
    return counts;
  }

  it(`a quota gives exactly ${TOTAL} of ${TOTAL} to twice as many who ask two processes`, async () => {
    await having(TOTAL);
    const outcomes = await atOnce(2 * TOTAL, (api, n) => use(api, `k${n}`));
    expect(outcomes).toEqual({ 200: TOTAL, QUOTA_EXCEEDED: TOTAL });
    expect(await numbersOf(left)).toEqual([TOTAL, TOTAL, 0, 0]);
    const entries = await ledgerOf(right);
    expect(entries.map(({ available }) => available)).toEqual(Array.from({ length: TOTAL }, (_, n) => n));
  });

  it('a quota is spent once for a key, whichever process it is sent to', async () => {
    await having(100);
    expect(await atOnce(40, (api, n) => use(api, `k${n % 4}`, 5))).toEqual({ 200: 40 });
    expect(await numbersOf(left)).toEqual([100, 20, 0, 80]);
    const counts = await atOnce(20, (api, n) => use(api, 'other', (n >> 1) % 2 ? 7 : 8));
    expect(counts).toEqual({ 200: 10, QUOTA_KEY_REUSED: 10 });
    expect(await atOnce(20, (api) => reserve(api, 'kept', 3))).toEqual({ 200: 20 });
    expect(await quotaOf(right)).toMatchObject({ reserved: 3 });
    expect(await atOnce(20, (api) => commit(api, 'kept', 2))).toEqual({ 200: 1, RESERVATION_OVER: 19 });
    expect(await ledgerOf(left)).toHaveLength(6);
  });

  it('a quota is never spent beyond a total that is lowered meanwhile', async () => {
    for (let round = 0; round < ROUNDS / 2; round += 1) {
      await having(60);
      const lower = async (): Promise<number> => {
        const root = two.services[round % 2]!.as();
        const body = { quotaBo: { riskReport: 20 } };
        await resendWhenBusy(() => root.patch(`/system/tenant-api/${tenantId}`, body));
        return (await quotaOf(left)).used;
      };
      const spending = atOnce(80, (api, n) => use(api, `k${n}`));
      const usedThen = await lower();
      await spending;
      const { used, total } = await quotaOf(right);
      expect(total).toBe(20);
      // Whoever came after the lowering found nothing, or what was left below it.
      expect(used).toBeLessThanOrEqual(Math.max(20, usedThen));
      expect(used).toBeGreaterThanOrEqual(20);
    }
  });

  it('a quota gives back no more than a key has spent, however often that is asked for', async () => {
    await having(10);
    await use(left, 'k', 10);
    expect(await atOnce(20, (api, n) => refund(api, 'k', `r${n}`, 3))).toEqual({
      200: 3,
      REFUND_TOO_LARGE: 17,
    });
    expect(await numbersOf(left)).toEqual([10, 1, 0, 9]);
  });

  it('a reservation ends once: by commit, by release, or not at all', async () => {
    await having(ROUNDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      await reserve(left, `k${round}`, 1);
      const counts = await atOnce(6, (api, n) => (n % 3 ? commit : release)(api, `k${round}`));
      expect(counts).toEqual({ 200: 1, RESERVATION_OVER: 5 });
    }
    const { used, reserved } = await quotaOf(left);
    expect([used, reserved]).toEqual([(await ledgerOf(right)).length, 0]);
  });

  if (onServer) {
    /** Holds a row in a transaction of its own meanwhile, as a long import does. */
    async function holding(statement: string, work: () => Promise<void>): Promise<void> {
      const runner = two.dataSource.createQueryRunner();
      await runner.startTransaction();
      try {
        await runner.query(statement);
        await work();
      } finally {
        await runner.rollbackTransaction();
        await runner.release();
      }
    }

    it('quotas are spent while the tree of the tenant is locked, and lock nothing of it', async () => {
      await having(10);
      const tree = `UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = '${tenantId}'`;
      let waiting: Promise<Answer> | undefined;
      await holding(tree, async () => {
        waiting = left.post('/system/dept-api', { deptName: 'waits' });
        await until(() => isWaitingForLock(two.dataSource));
        expect(outcome(await use(left, 'a'))).toBe(200);
        expect(outcome(await reserve(left, 'b'))).toBe(200);
        expect(outcome(await commit(right, 'b'))).toBe(200);
        expect(outcome(await reserve(right, 'c'))).toBe(200);
        expect(outcome(await release(right, 'c'))).toBe(200);
        expect(outcome(await refund(left, 'a', 'd'))).toBe(200);
        expect(await numbersOf(left)).toEqual([10, 1, 0, 9]);
      });
      expect((await waiting)?.status).toBe(200);
      const counter = `UPDATE tenantry_quota SET last_seq = last_seq + 1 WHERE tenant_id = '${tenantId}'`;
      await holding(counter, async () => {
        waiting = use(left, 'e');
        await until(() => isWaitingForLock(two.dataSource));
        await aDept(left);
        await aDept(right);
      });
      expect((await waiting)?.status).toBe(200);
    });
  }

  it('quotas are counted from the first on where no counter was', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await having(5);
      // As of a tenant that was made by a version before quotas, while this one ran already.
      await two.dataSource.manager.delete(TenantryQuota, { tenantId });
      expect(await numbersOf(left)).toEqual([5, 0, 0, 5]);
      expect(await atOnce(8, (api, n) => use(api, `k${n}`))).toEqual({ 200: 5, QUOTA_EXCEEDED: 3 });
      const others = ['enterpriseQuery', 'annualReportQuery', 'chainReport', 'businessReport', 'merchant'];
      const unused = { tenantId, total: 0, used: 0, reserved: 0, lastSeq: 0 };
      await two.dataSource.manager.insert(
        TenantryQuota,
        others.map((kind) => ({ kind, ...unused })),
      );
    }
  });
});
