import { FailedSignInEntity } from '../../src/server/auth/account.entity';
import { median, MeasuredService, say } from './support/measured-service';

const PAIRS = 200;
const WARM_UP = 10;
/** The part of a sign-in by which names that exist may differ from others: on a network nobody sees it. */
const SHARE = 0.05;

/** A measurement of times, with real passwords; `npm test` compares the statements instead. */
describe('a sign-in that is refused', () => {
  const service = MeasuredService.use({ RATE_LIMIT: 'off' });

  const timeOf = async (username: string): Promise<number> => {
    const begun = performance.now();
    const { refusal } = await service.child.anonymous.post('/auth/login', {
      username,
      password: 'wrong-password',
    });
    expect(refusal.reason).toBe('BAD_CREDENTIALS');
    return performance.now() - begun;
  };

  it(`a refused sign-in takes as long for a name that exists as for any other, in ${PAIRS} pairs`, async () => {
    const differences: number[] = [];
    const all: number[] = [];
    for (let n = -WARM_UP; n < PAIRS; n += 1) {
      // As many failures for both, never enough to lock.
      if (n % 4 === 0) await service.dataSource.manager.clear(FailedSignInEntity);
      // Whoever comes second may find something warm, and the first INSERT into an emptied table is slow: they take turns in both.
      const order = (n + (n >> 2)) % 2 === 0 ? ['admin', 'nobody'] : ['nobody', 'admin'];
      const times: Record<string, number> = {};
      for (const name of order) times[name] = await timeOf(name);
      if (n < 0) continue;
      differences.push(times.admin! - times.nobody!);
      all.push(...Object.values(times));
    }
    // The median: whatever else the machine does slows single sign-ins, of the one name as often as of the other.
    const [difference, usual] = [median(differences), median(all)];
    say(`"admin" took ${difference.toFixed(2)} ms longer (median) of ${usual.toFixed(1)} ms`);
    expect(Math.abs(difference)).toBeLessThan(SHARE * usual);
  });
});
