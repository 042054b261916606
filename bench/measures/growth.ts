import type { Bed } from '../support/bed';
import { interleave, type Side } from '../support/figures';
import { load, rawRequest } from '../support/load';
import { ratioResult, type Measure, type Result } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { fillTenants, type Caller } from '../support/world';

const ROUNDS = 5;
const REQUESTS = 300;
const BOUND = 1.3;

/** Reads that give as many rows in a small tenant as in a large one. */
const READS: Record<string, (caller: Caller, n: number) => string> = {
  'department by id': ({ firstDept }, n) => `/system/dept-api/${firstDept + 100 + (n % 900)}`,
  ancestors: ({ firstDept }, n) => `/system/dept-api/${firstDept + 100 + (n % 900)}/ancestors`,
  'first page of 10': () => '/system/dept-api?limit=10',
  'children of one': ({ firstDept }, n) => `/system/dept-api?limit=5&parentId=${firstDept + 10 + (n % 90)}`,
  'tree of two levels': () => '/system/dept-api/tree?depth=2',
  'tenant by id': ({ tenantId }) => `/system/tenant-api/${tenantId}`,
  'list of tenants': () => '/system/tenant-api?limit=5',
  'list of accounts': () => '/system/user-api?limit=5',
  'account by id': ({ userId }) => `/system/user-api/${userId}`,
  me: () => '/auth/me',
};

interface Place {
  readonly service: ServerProcess;
  readonly callers: readonly Caller[];
  readonly mariadbCpu: () => number;
}

/** What reads cost where there is much, against where there is little: CPU of the service and of MariaDB together. */
export const growth: Measure = {
  name: 'growth',
  async run(bed) {
    const few = await placeOn(bed, 10);
    const [large] = await fillTenants(await bed.dataSource(), {
      tenants: 1,
      depts: 100_000,
      accounts: 10,
      childTenants: 5,
    });
    const many = await placeOn(bed.another(), 10_000);
    if (!large) throw new Error('There is no caller.');
    for (const place of [few, many, few, many])
      for (const path of Object.values(READS)) await sideOf(place, path)();
    return [
      ...(await compare('of 100,000 departments', { ...few, callers: [large] }, few)),
      ...(await compare('among 10,000 tenants', many, few)),
    ];
  },
};

/** Ten tenants of a thousand departments, and others without any. */
async function placeOn(bed: Bed, tenants: number): Promise<Place> {
  const dataSource = await bed.dataSource();
  const callers = await fillTenants(dataSource, { tenants: 10, depts: 1000, accounts: 10, childTenants: 5 });
  if (tenants > 10) await fillTenants(dataSource, { tenants: tenants - 10, depts: 10 });
  return { service: await bed.service(), callers, mariadbCpu: await bed.mariadbCpu() };
}

async function compare(where: string, large: Place, small: Place): Promise<Result[]> {
  const results: Result[] = [];
  for (const [name, path] of Object.entries(READS)) {
    const sides = [large, small].map((place) => sideOf(place, path));
    await interleave(sides, 1);
    const [own = [], theirs = []] = await interleave(sides, ROUNDS);
    const heading = { work: `${name}, ${where}`, baseline: '1,000 departments, 10 tenants', bound: BOUND };
    results.push(ratioResult(heading, own, theirs, 'µs CPU'));
  }
  return results;
}

function sideOf({ service, callers, mariadbCpu }: Place, path: (caller: Caller, n: number) => string): Side {
  const request = (_: number, n: number): string => {
    const caller = callers[n % callers.length];
    return caller ? rawRequest('GET', path(caller, n), caller.token) : '';
  };
  return async () => {
    const before = service.cpuMs() + mariadbCpu();
    await load({ port: service.port, connections: 8, requests: REQUESTS, request });
    return ((service.cpuMs() + mariadbCpu() - before) * 1000) / REQUESTS;
  };
}
