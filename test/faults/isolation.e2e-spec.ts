import { throwAwayDatabase } from '../../src/server/testing';
import { faultsSeed } from '../support/chance';
import { runIsolation } from '../support/isolation/run';
import { ServiceUnderTest } from '../support/service-under-test';
import { emptyDatabase } from '../support/test-database';

describe('tenant isolation at length', () => {
  it.each([
    ['MariaDB', emptyDatabase],
    ['SQLite', throwAwayDatabase],
  ])('holds against every probe on %s', async (name, makeDatabase) => {
    const service = await ServiceUnderTest.on(await makeDatabase(), { LOG_LEVEL: 'warn' });
    const began = Date.now();
    const { problems, probes, statements } = await runIsolation({
      service,
      seed: faultsSeed(name),
      share: 1,
    });
    const seconds = Math.round((Date.now() - began) / 1000);
    process.stderr.write(`${name}: ${probes} probes and ${statements} statements in ${seconds} s\n`);
    expect(problems).toEqual([]);
    expect(probes).toBeGreaterThan(5000);
    await service.stop();
  });
});
