import { sign } from 'jsonwebtoken';
import { ApiClient } from '../../src/testing/api-client';
import { TEST_SECRET } from '../../src/server/testing';
import { rawRequest } from '../../test/support/load';
import { costOf } from '../support/cost';
import { interleave, type Side } from '../support/figures';
import { ratioResult, type Measure } from '../support/result';
import { fillTenants, type Caller } from '../support/world';

const DEPTS = '/system/dept-api';
const ROUNDS = 7;
const CONNECTIONS = 32;
const READS = 4000;
const CREATES = 400;

/** What a request with a key costs against one with a token, and a write below a managed department against an administrator's. */
export const parts: Measure = {
  name: 'parts',
  async run(bed) {
    const callers = await fillTenants(await bed.dataSource(), { tenants: 40, depts: 1000 });
    const service = await bed.service();
    const api = new ApiClient(service.baseUrl);
    const keys = new Map<Caller, string>();
    for (const caller of callers) {
      const wanted = { name: 'nightly', roles: ['tenant_admin'], permissions: ['dept:read'] };
      const { body } = await api.as(caller.token).send('POST', '/system/key-api', wanted);
      keys.set(caller, (body.data as { secret: string }).secret);
    }
    api.close();
    /** What the service spends on so many requests of all callers by turns, in microseconds each. */
    const asking =
      (requests: number, requestOf: (caller: Caller, turn: number) => string): Side =>
      () => {
        const request = (_: number, n: number): string => {
          const caller = callers[n % callers.length];
          return caller ? requestOf(caller, Math.floor(n / callers.length)) : '';
        };
        return costOf({
          ...{ port: service.port, connections: CONNECTIONS, requests, leadIn: callers.length, request },
          cpuMs: () => service.cpuMs(),
        });
      };
    const read = (secretOf: (caller: Caller) => string): Side =>
      asking(READS, (caller, turn) =>
        rawRequest('GET', `${DEPTS}/${caller.firstDept + (turn % 1000)}`, secretOf(caller)),
      );
    const tokens = {
      dept_admin: new Map(callers.map((caller) => [caller, tokenOf(caller, 'dept_admin')])),
      tenant_admin: new Map(callers.map((caller) => [caller, tokenOf(caller, 'tenant_admin')])),
    };
    const create = (role: keyof typeof tokens): Side =>
      asking(CREATES, (caller) => {
        const body = { parentId: caller.firstDept, deptName: '研发部' };
        return rawRequest('POST', DEPTS, tokens[role].get(caller) ?? '', body);
      });
    const compared = [
      {
        heading: { work: 'Read by id with a key', baseline: 'with a token', bound: 1.15 },
        sides: [read((caller) => keys.get(caller) ?? ''), read(({ token }) => token)],
      },
      {
        heading: {
          ...{ work: 'Create below a managed department', baseline: 'by an administrator' },
          bound: 1.1,
        },
        sides: [create('dept_admin'), create('tenant_admin')],
      },
    ];
    const results = [];
    for (const { heading, sides } of compared) {
      await interleave(sides, 2);
      const [own = [], other = []] = await interleave(sides, ROUNDS);
      results.push(ratioResult(heading, own, other, 'µs CPU'));
    }
    return results;
  },
};

/** A token of a platform, which manages the first department of its tenant where the role wants one. */
function tokenOf({ tenantId, firstDept }: Caller, role: string): string {
  const part = role === 'dept_admin' ? { managedDeptIds: [firstDept] } : {};
  return sign({ tenantId, username: role, roles: [role], ...part }, TEST_SECRET, {
    ...{ subject: role, issuer: 'tenantry', audience: 'tenantry', expiresIn: 7200 },
  });
}
