import { ApiClient } from '../../src/testing/api-client';
import { interleave, type Side } from '../support/figures';
import { ratioResult, type Measure } from '../support/result';
import { fillTenants } from '../support/world';

const DEPTS = 1000;
const CHANGES = 200;
const REQUESTS = 20;
const ROUNDS = 5;

/** The tree as it was some changes ago, against the tree as it is. */
export const pastTree: Measure = {
  name: 'past-tree',
  async run(bed) {
    const [caller] = await fillTenants(await bed.dataSource(), { tenants: 1, depts: DEPTS });
    if (!caller) throw new Error('There is no tenant.');
    const api = new ApiClient((await bed.service()).baseUrl).as(caller.token);
    const leaf = (n: number) => caller.firstDept + 100 + n;
    for (let n = 0; n < CHANGES; n += 1) {
      // Every tenth moves to the top level.
      const body = n % 10 === 0 ? { parentId: 0 } : { leader: `leader ${n}` };
      await api.patch(`/system/dept-api/${leaf(n)}`, body);
    }
    const side =
      (query: string): Side =>
      async () => {
        const start = performance.now();
        for (let n = 0; n < REQUESTS; n += 1) {
          const { status } = await api.get(`/system/dept-api/tree${query}`);
          if (status !== 200) throw new Error(`The tree${query} is answered ${status}.`);
        }
        return (performance.now() - start) / REQUESTS;
      };
    const sides = [side('?asOf=0'), side('')];
    await interleave(sides, 1);
    const [past = [], live = []] = await interleave(sides, ROUNDS);
    api.close();
    const heading = {
      work: `Tree of 1,000 as of ${CHANGES} changes ago`,
      baseline: 'the tree as it is',
      bound: 3,
    };
    return [ratioResult(heading, past, live, 'ms')];
  },
};
