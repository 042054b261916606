import { faultsSeed } from '../support/chance';
import { grantsMayDangle } from '../support/examined-databases';
import { runHostile } from '../support/hostile/run';
import { hostileWorld } from '../support/hostile/world';
import { ServiceUnderTest } from '../support/service-under-test';

/** The long form is test/faults/at-length.e2e-spec.ts. */
const COUNT = 400;

describe('hostile input', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });

  it(`hostile input is always answered in the envelope, never by a failure (${COUNT} requests)`, async () => {
    const seed = faultsSeed('hostile input');
    grantsMayDangle(service.database);
    const callers = await hostileWorld(service.dataSource, service.anonymous);
    await runHostile({ baseUrl: service.anonymous.baseUrl, callers, seed, count: COUNT });
    expect(service.log.filter((line) => line.includes('"level":50'))).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
