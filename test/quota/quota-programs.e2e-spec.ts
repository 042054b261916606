import fc from 'fast-check';
import type { ApiClient } from '../../src/server/testing';
import { HandClock } from '../support/hand-clock';
import { SEEDED, times } from '../support/long-run';
import { QuotaModel } from '../support/quota-model';
import { commit, ledgerOf, numbersOf, outcome, refund, release, reserve, use } from '../support/quotas';
import { aTenantWith } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const RUNS = times(30, 5);
const STEPS = 30;
/** One that is open has at least an hour left or none: how long the test takes does not matter. */
const HOUR = 3600;

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const amount = fc.integer({ min: 1, max: 5 });
const some = fc.option(amount, { nil: undefined });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('use' as const), key, amount }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      key,
      amount,
      hours: fc.integer({ min: 2, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('commit' as const), key, amount: some }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), ofKey: key, key, amount: some }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('total' as const), total: fc.integer({ min: -1, max: 20 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('random programs of quotas', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' }, clock);

  async function run(api: ApiClient, tenantId: string, model: QuotaModel, each: Step): Promise<void> {
    const told = JSON.stringify(each);
    const expectSame = (is: number | string, should: number | string) => {
      expect([told, is]).toEqual([told, should]);
    };
    switch (each.do) {
      case 'use':
        expectSame(outcome(await use(api, each.key, each.amount)), model.use(each.key, each.amount));
        break;
      case 'reserve': {
        const seconds = each.hours * HOUR + HOUR / 2;
        const answer = await reserve(api, each.key, each.amount, seconds);
        expectSame(outcome(answer), model.reserve(each.key, each.amount, seconds));
        break;
      }
      case 'commit':
        expectSame(outcome(await commit(api, each.key, each.amount)), model.commit(each.key, each.amount));
        break;
      case 'release':
        expectSame(outcome(await release(api, each.key)), model.release(each.key));
        break;
      case 'refund': {
        const answer = await refund(api, each.ofKey, each.key, each.amount);
        expectSame(outcome(answer), model.refund(each.ofKey, each.key, each.amount));
        break;
      }
      case 'pass':
        clock.pass(each.hours * HOUR * 1000);
        model.pass(each.hours * HOUR);
        break;
      case 'total': {
        const body = { quotaBo: { riskReport: each.total } };
        await service.as().patch(`/system/tenant-api/${tenantId}`, body);
        model.total = each.total;
      }
    }
  }

  it(`random programs of quotas do what a plain model does (${RUNS} programs)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }),
        async (program) => {
          const tenantId = await aTenantWith(service.dataSource, { riskReport: 12 });
          const api = service.as({ tenantId });
          const model = new QuotaModel(12);
          for (const each of program) {
            await run(api, tenantId, model, each);
            expect(await numbersOf(api)).toEqual(model.numbers);
          }
          const ledger = await ledgerOf(api);
          expect(ledger.map((entry) => entry.amount)).toEqual(model.amounts.toReversed());
        },
      ),
      { numRuns: RUNS, ...SEEDED },
    );
  });
});
