import { FakeRedis } from '../support/fake-redis';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

describe('a Redis that stops answering', () => {
  let redis: FakeRedis;
  let service: ServiceUnderTest;

  beforeAll(async () => {
    redis = await FakeRedis.start();
    service = await ServiceUnderTest.start({
      RATE_LIMIT: 'on',
      RATE_LIMIT_USER: '10',
      REDIS_URL: redis.url,
    });
  });
  afterAll(async () => {
    await service.stop();
    await redis.stop();
  });

  const ask = async (username = 'somebody') =>
    (await service.as({ username }).get('/system/dept-api/1')).status;

  /** Asks until Redis has counted a request; as long as it does not, each process counts alone. */
  async function untilCounted(): Promise<void> {
    const before = redis.counted;
    let n = 0;
    await until(async () => {
      await ask(`waiting-${(n += 1)}`);
      return redis.counted > before;
    });
  }

  it('a Redis that hangs is asked a few times more, then not until it answers again, and counts again then', async () => {
    await untilCounted();
    redis.hangs = true;
    const before = redis.counted;
    const warnings = () =>
      service.log.filter((line) => line.includes('limits are counted per replica')).length;
    const warned = warnings();
    const statuses = [];
    // After the first that waits in vain the connection is given up.
    for (let n = 0; n < 3; n += 1) statuses.push(await ask());
    expect(redis.counted - before).toBeLessThanOrEqual(3);
    const asked = redis.counted;
    for (let n = 0; n < 18; n += 1) statuses.push(await ask());
    expect(redis.counted).toBe(asked);
    expect(statuses.filter((status) => status === 429)).toHaveLength(11);
    expect(warnings()).toBe(warned + 1);

    redis.hangs = false;
    await untilCounted();
  });
});
