import type { ApiClient } from '../../src/testing/api-client';
import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import type { Bed } from '../support/bed';
import { bestOfTwo, comparison, interleave, type Comparison, type Side } from '../support/compare';
import { spreadOf } from '../support/figures';
import { fillQuickly } from '../support/quick-fill';
import { ratioResult, type Measure, type Result } from '../support/result';

const SIZES = [1000, 100_000, 1_000_000] as const;
const ROUNDS = 61;
const BOUND = 1.3;

/** First pages, for a tenant whose ids begin after `base`. Each gives as many rows in a small tenant as in a large one. */
const LISTS: Record<string, (base: number) => string> = {
  'children of one': (base) => `?limit=5&parentId=${base + 150}`,
  'a subtree of few': (base) => `?limit=5&ancestorId=${base + 150}`,
};

interface Tenant {
  readonly api: ApiClient;
  readonly base: number;
  readonly count: number;
}

/** Finding departments in large tenants, against the same among a thousand. */
export const lists: Measure = {
  name: 'lists',
  async run(bed) {
    const tenants = await filledTenants(bed);
    const results: Result[] = [];
    for (const [name, query] of Object.entries(LISTS)) {
      const [small, ...large] = tenants.map(({ api, base }) => timeOf(api, `/system/dept-api${query(base)}`));
      for (const [at, side] of large.entries()) {
        if (!small) continue;
        await interleave([side, small], 10);
        const found = await bestOfTwo(BOUND, async () => byMedians(await interleave([side, small], ROUNDS)));
        const count = (tenants[at + 1]?.count ?? 0).toLocaleString('en');
        const heading = {
          work: `First page of ${name}, of ${count}`,
          baseline: 'itself of 1,000',
          bound: BOUND,
          aim: 1.1,
        };
        results.push(ratioResult(heading, found, 'ms'));
      }
    }
    for (const { api } of tenants) api.close();
    return results;
  },
};

async function filledTenants(bed: Bed): Promise<Tenant[]> {
  const dataSource = await bed.dataSource();
  const filled = await fillQuickly(dataSource, async () => {
    const tenants: { tenantId: string; base: number; count: number }[] = [];
    for (const count of SIZES) {
      const tenantId = await aTenantRow(dataSource);
      tenants.push({ tenantId, base: await fillWithDepts(dataSource, tenantId, count), count });
    }
    return tenants;
  });
  const service = await bed.service();
  return filled.map(({ tenantId, ...tenant }) => ({ ...tenant, api: bed.client(service, tenantId) }));
}

function timeOf(api: ApiClient, path: string): Side {
  return async () => {
    const start = performance.now();
    const { status, text } = await api.get(path);
    if (status !== 200) throw new Error(text);
    return performance.now() - start;
  };
}

/** A single request is too short to be compared with the next one: the medians are. */
function byMedians([large = [], small = []]: number[][]): Comparison {
  return { ...comparison(large, small), ratio: spreadOf(large).median / spreadOf(small).median };
}
