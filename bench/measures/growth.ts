import { rawRequest } from '../../test/support/load';
import type { Bed } from '../support/bed';
import { costOf, sentBy } from '../support/cost';
import { interleave, type Side } from '../support/figures';
import { ratioResult, type Measure, type Result } from '../support/result';
import { fillTenants, type Caller } from '../support/world';

const ROUNDS = 7;
const REQUESTS = 400;
export const WARM_UP = 2000;
const CONNECTIONS = 8;
/** So many callers there are where there are few. */
const LEAD_IN = 10;
/** A round has so many requests in all. */
export const SENT = sentBy({ leadIn: LEAD_IN, requests: REQUESTS, connections: CONNECTIONS });
const BOUND = 1.3;
const PLAN = { accounts: 10, childTenants: 5 };
const FEW = { ...PLAN, tenants: LEAD_IN, depts: 1000 };
const LARGE = { ...PLAN, tenants: 1, depts: 100_000 };
/** With those of `FEW` and the tenants below them 10,000. */
const OTHERS = { tenants: 9940, depts: 10 };

type Path = (caller: Caller, n: number) => string;

/** Reads that give as many rows in a small tenant as in a large one. */
export const READS: Readonly<Record<string, Path>> = {
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

/** What a service and MariaDB together spend on a read by these callers in turn, in microseconds of CPU. */
export async function readingOn(
  bed: Bed,
): Promise<(callers: readonly Caller[], path: Path, requests?: number) => Side> {
  const [service, mariadbCpu] = [await bed.service(), await bed.mariadbCpu()];
  return (callers, path, requests = REQUESTS) =>
    () => {
      const request = (_: number, n: number): string => {
        const caller = callers[n % callers.length];
        return caller ? rawRequest('GET', path(caller, n), caller.token) : '';
      };
      return costOf({
        ...{ port: service.port, connections: CONNECTIONS, requests, leadIn: LEAD_IN, request },
        cpuMs: () => service.cpuMs() + mariadbCpu(),
      });
    };
}

/** What reads cost where there is much, against where there is little. Both are there at the same time, and asked by turns. */
export const growth: Measure = {
  name: 'growth',
  async run(bed) {
    const [small, among] = [bed, bed.beside()];
    const few = await fillTenants(await small.dataSource(), FEW);
    const large = await fillTenants(await small.dataSource(), LARGE);
    const fewAmong = await fillTenants(await among.dataSource(), FEW);
    await fillTenants(await among.dataSource(), OTHERS);
    const [onSmall, onAmong] = [await readingOn(small), await readingOn(among)];
    await small.settle();
    const results: Result[] = [];
    const compare = async (work: string, baseline: string, sides: readonly Side[]): Promise<void> => {
      const [own = [], theirs = []] = await interleave(sides, ROUNDS);
      results.push(ratioResult({ work, baseline, bound: BOUND }, own, theirs, 'µs CPU'));
    };
    const warmUps = Object.values(READS).map((path) => [
      onSmall(few, path, WARM_UP),
      onAmong(fewAmong, path, WARM_UP),
    ]);
    await interleave(warmUps.flat(), 1);
    // First: here two processes are compared, and one that has served more has more compiled code.
    for (const [name, path] of Object.entries(READS))
      await compare(`${name}, among 10,000 tenants`, 'among 70', [
        onAmong(fewAmong, path),
        onSmall(few, path),
      ]);
    for (const [name, path] of Object.entries(READS)) {
      // One tenant against one: reads of the same tenant at the same moment may share a statement.
      const sides = [onSmall(large, path), onSmall(few.slice(0, 1), path)];
      await interleave(sides, 1);
      await compare(`${name}, of 100,000 departments`, 'of 1,000', sides);
    }
    return results;
  },
};
