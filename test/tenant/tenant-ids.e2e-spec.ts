import type { ApiClient } from '../../src/server/testing';
import { HandClock } from '../support/hand-clock';
import { ServiceUnderTest } from '../support/service-under-test';
import { resendWhenBusy } from '../support/when-busy';

const PATH = '/system/tenant-api';

describe('ids of tenants', () => {
  const clocks = [new HandClock(), new HandClock(), new HandClock()];
  let services: ServiceUnderTest[];
  let clients: ApiClient[];

  beforeAll(async () => {
    const first = await ServiceUnderTest.start({}, clocks[0]);
    const others = clocks.slice(1).map((clock) => ServiceUnderTest.on(first.database, {}, clock));
    services = [first, ...(await Promise.all(others))];
    clients = services.map((service) => service.as({ roles: ['superadmin'] }));
  });
  afterAll(async () => {
    await Promise.all(services.slice(1).map((service) => service.leave()));
    await services[0]!.stop();
  });

  async function makeTenants(count: number): Promise<bigint[]> {
    const made = Array.from({ length: count }, (_, n) =>
      resendWhenBusy(() => clients[n % clients.length]!.post(PATH, { tenantName: `${n}` })),
    );
    return (await Promise.all(made)).map(({ headers }) => BigInt(headers.location!.slice(PATH.length + 1)));
  }

  it('ids of tenants never repeat, and new ones are greater, though the clocks of three services differ and step back', async () => {
    const ids: bigint[] = [];
    for (const offsets of [
      [0, 0, 0],
      [0, -3_600_000, 5000],
      [-7_200_000, -7_200_000, -7_200_000],
    ]) {
      offsets.forEach((offset, n) => {
        clocks[n]!.set(new Date(Date.now() + offset).toISOString());
      });
      const made = await makeTenants(15);
      const greatest = ids.reduce((a, b) => (a > b ? a : b), 0n);
      for (const id of made) expect(id).toBeGreaterThan(greatest);
      ids.push(...made);
    }
    expect(new Set(ids).size).toBe(ids.length);
  });
});
