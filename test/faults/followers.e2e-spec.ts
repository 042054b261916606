import { aDept, aTenant, mintToken } from '../../src/server/testing';
import { CHANGES, cursorNow } from '../support/follower';
import { rawRequest } from '../support/load';
import { aTenantRow } from '../support/seeds';
import { median, MeasuredService, say } from './support/measured-service';

const FOLLOWERS = 1000;
/** A top-level tenant may have a hundred of them. */
const BRANCHES = 10;
const SECONDS = 5;
const ROUNDS = 3;
const WAIT = 16;
/** Of a tenant every 50 ms. */
const WRITES = 20;
const READS = 40;
/** Below this, two times differ by what else the machine does. */
const FLOOR_MS = 5;
const DEPTS = '/system/dept-api';
const TENANTS = '/system/tenant-api';

describe('a thousand followers who wait', () => {
  const service = MeasuredService.use({ NODE_ENV: 'production', MAX_WAIT_MS: '2000' });

  async function aFollower(): Promise<string> {
    const tenantId = await aTenantRow(service.dataSource);
    const token = mintToken({ tenantId });
    const after = await cursorNow(service.child.anonymous.as(token));
    return rawRequest('GET', `${CHANGES}?after=${after}&wait=${WAIT}`, token);
  }

  async function reader(): Promise<string> {
    const token = mintToken({ tenantId: await aTenantRow(service.dataSource) });
    const deptId = await aDept(service.child.anonymous.as(token));
    return rawRequest('GET', `${DEPTS}/${deptId}`, token);
  }

  async function writes(): Promise<string[]> {
    const token = mintToken({ roles: ['superadmin'] });
    const { id } = await aTenant(service.child.anonymous.as(token));
    const names = Array.from({ length: 50 }, (_, n) => `company ${n}`);
    return names.map((companyName) => rawRequest('PATCH', `${TENANTS}/${id}`, token, { companyName }));
  }

  it('a thousand followers who wait hardly delay others while tenants are written that do not concern them', async () => {
    const each = await Promise.all(Array.from({ length: BRANCHES }, aFollower));
    const waiting = Array.from({ length: FOLLOWERS }, (_, n) => each[n % BRANCHES]!);
    const streams = [
      { requests: [await reader()], rate: READS },
      { requests: await writes(), rate: WRITES },
    ];
    const medians = { none: [] as number[], all: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, followers] of [
        ['none', []],
        ['all', waiting],
      ] as const) {
        const { reports, waited } = await service.load.run(
          'waitedBeside',
          service.port,
          streams,
          followers,
          SECONDS,
        );
        const [reads, written] = reports;
        say(`${waited} waiting: reads ${JSON.stringify(reads)}, writes ${JSON.stringify(written)}`);
        expect(waited).toBe(followers.length);
        expect([reads!.refused.count, written!.refused.count]).toEqual([0, 0]);
        medians[name].push(reads!.good.median);
      }
    const [alone, beside] = [median(medians.none), median(medians.all)];
    say(
      `median of reads by id: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${FOLLOWERS} followers`,
    );
    expect(beside).toBeLessThan(2 * alone + FLOOR_MS);
  });
});
