import { FailedSignInEntity } from '../../src/tenant/failed-sign-in.entity';
import { ServiceUnderTest } from '../support/service-under-test';

const PAIRS = 300;

/** A measurement of times; `npm test` compares the statements instead. */
describe('a sign-in that is refused', () => {
  const service = ServiceUnderTest.use();

  const timeOf = async (username: string): Promise<number> => {
    const begun = performance.now();
    await service.anonymous.post('/auth/login', { username, password: 'wrong-password' });
    return performance.now() - begun;
  };

  it(`takes no longer for a name that exists, in ${PAIRS} pairs`, async () => {
    const differences: number[] = [];
    for (let n = 0; n < PAIRS + 20; n += 1) {
      // As many failures for both, never enough to lock.
      if (n % 4 === 0) await service.dataSource.manager.clear(FailedSignInEntity);
      // Whoever comes second may find something warm: they take turns.
      const order = n % 2 === 0 ? ['admin', 'nobody'] : ['nobody', 'admin'];
      const times: Record<string, number> = {};
      for (const name of order) times[name] = await timeOf(name);
      if (n >= 20) differences.push(times.admin! - times.nobody!);
    }
    const slower = differences.filter((ms) => ms > 0).length;
    const median = differences.sort((a, b) => a - b)[PAIRS / 2]!;
    console.info(`"admin" took longer in ${slower} of ${PAIRS} pairs, by ${median.toFixed(3)} ms (median)`);
    // Whatever else the machine does, it is as likely to slow the one as the other. Of fair coins, one set of 300 in
    // 2,000 is farther from 150 than 30.
    expect(Math.abs(slower - PAIRS / 2)).toBeLessThanOrEqual(30);
  });
});
