import { interleave, type Side } from '../support/figures';
import { closedLoad, rawRequest } from '../../test/support/load';
import { ratioResult, type Measure, type Result } from '../support/result';
import { fillTenants, type Caller } from '../support/world';

const ROUNDS = 3;
const REQUESTS = 200;
const WARM_UP = 1000;
const BOUND = 1.3;
const BASELINE = '1,000 departments, 10 tenants';

type Path = (caller: Caller, n: number) => string;

/** Reads that give as many rows in a small tenant as in a large one. */
const READS: Record<string, Path> = {
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

/** What reads cost where there is much, against where there is little: CPU of the service and of MariaDB together. */
export const growth: Measure = {
  name: 'growth',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const plan = { accounts: 10, childTenants: 5 };
    const few = await fillTenants(dataSource, { ...plan, tenants: 10, depts: 1000 });
    const large = await fillTenants(dataSource, { ...plan, tenants: 1, depts: 100_000 });
    const [service, mariadbCpu] = [await bed.service(), await bed.mariadbCpu()];
    const side =
      (callers: readonly Caller[], path: Path, requests = REQUESTS): Side =>
      async () => {
        const request = (_: number, n: number): string => {
          const caller = callers[n % callers.length];
          return caller ? rawRequest('GET', path(caller, n), caller.token) : '';
        };
        const before = service.cpuMs() + mariadbCpu();
        await closedLoad({ port: service.port, connections: 8, requests, request });
        return ((service.cpuMs() + mariadbCpu() - before) * 1000) / requests;
      };
    const measureFew = async (): Promise<number[][]> => {
      const costs: number[][] = [];
      for (const path of Object.values(READS)) costs.push(...(await interleave([side(few, path)], ROUNDS)));
      return costs;
    };
    const results: Result[] = [];
    const add = (work: string, own: number[], theirs: number[]): unknown =>
      results.push(ratioResult({ work, baseline: BASELINE, bound: BOUND }, own, theirs, 'µs CPU'));
    for (const path of Object.values(READS)) await side(few, path, WARM_UP)();
    // One tenant against one: reads of the same tenant at the same moment may share a statement.
    for (const [name, path] of Object.entries(READS)) {
      const sides = [side(large, path), side(few.slice(0, 1), path)];
      const [own = [], theirs = []] = await interleave(sides, ROUNDS);
      add(`${name}, of 100,000 departments`, own, theirs);
    }
    // Before and after in one process, not by turns: a second process would be compiled otherwise.
    const before = await measureFew();
    await fillTenants(dataSource, { tenants: 9990, depts: 10 });
    const after = await measureFew();
    Object.keys(READS).forEach((name, at) =>
      add(`${name}, among 10,000 tenants`, after[at] ?? [], before[at] ?? []),
    );
    return results;
  },
};
