import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/server/testing';
import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import { load, rawRequest } from '../support/load';
import { figureResult, type Measure } from '../support/result';
import type { ServerProcess } from '../support/server-process';

const PATH = '/system/dept-api';
const TENANTS = 8;
const DEPTS = 1000;
const FEW = 1000;
const MANY = 100_000;
const CONNECTIONS = 32;
const BOUND = 15;
const REST_MS = 1500;

/** Memory of the service at rest, after many requests against after few. */
export const memory: Measure = {
  name: 'memory',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const tenants: { readonly base: number; readonly tenantId: string }[] = [];
    while (tenants.length < TENANTS) {
      const tenantId = await aTenantRow(dataSource);
      tenants.push({ base: await fillWithDepts(dataSource, tenantId, DEPTS), tenantId });
    }
    const service = await bed.service('mariadb', { gc: true });
    const callers = tenants.map(({ base, tenantId }) => ({ base, token: mintToken({ tenantId }) }));
    const request = (connection: number, n: number): string => {
      const { base, token } = callers[connection % TENANTS] ?? { base: 0, token: '' };
      const id = base + 1 + (n % DEPTS);
      // Of a hundred requests ninety read one, eight list, two write.
      const kind = n % 50;
      if (kind === 0) return rawRequest('POST', PATH, token, { deptName: `new ${n}`, parentId: base + 1 });
      if (kind <= 4) return rawRequest('GET', `${PATH}?limit=20&parentId=${id}`, token);
      return rawRequest('GET', `${PATH}/${id}`, token);
    };
    const send = (requests: number) =>
      load({ port: service.port, connections: CONNECTIONS, requests, request });

    await send(FEW);
    const before = await memoryAtRest(service);
    await send(MANY - FEW);
    const after = await memoryAtRest(service);
    const heading = { work: 'Memory at rest, after 100,000 requests', baseline: 'after 1,000', bound: BOUND };
    const told = `${after.toFixed(1)} MB against ${before.toFixed(1)} MB; 90 % reads, 8 % lists, 2 % writes`;
    return [figureResult(heading, after - before, 'MB more', told)];
  },
};

/** After garbage has been collected and the pages given back. */
async function memoryAtRest(service: ServerProcess): Promise<number> {
  await sleep(REST_MS);
  service.signal('SIGUSR2');
  await sleep(REST_MS);
  return service.memoryMb('VmRSS');
}
