import { aDept } from '../../src/testing/builders';
import { mintToken } from '../../src/server/testing';
import { aTenantRow } from '../../test/support/seeds';
import { compare } from '../support/compare';
import { cpuSide } from '../support/cpu';
import { rawRequest } from '../support/load';
import { ratioResult, type Measure } from '../support/result';
import { ownStatementsOf, shapeOf } from '../support/statements';

const PATH = '/system/dept-api';
/** Each connection writes in a tenant of its own: the writes of one tenant wait for each other. */
const TENANTS = 8;
const ROUNDS = 7;
const BOUND = 1.5;
const FIELDS = {
  deptName: '研发部',
  orderNum: 1,
  leader: '张三',
  phone: '13800138000',
  email: 'office@example.com',
};

/** Making a department: the service against a bare transaction of the very same statements. */
export const post: Measure = {
  name: 'post',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const service = await bed.service();
    const bare = await bed.baseline('post-mariadb');
    const requests: string[] = [];
    const bodies: { readonly tenantId: string; readonly parentId: number }[] = [];
    while (requests.length < TENANTS) {
      const tenantId = await aTenantRow(dataSource);
      const parentId = await aDept(bed.client(service, tenantId), { deptName: '总公司' });
      bodies.push({ tenantId, parentId });
      requests.push(rawRequest('POST', PATH, mintToken({ tenantId }), { parentId, ...FIELDS }));
    }
    const [{ tenantId, parentId } = { tenantId: '', parentId: 0 }] = bodies;
    const shapes: string[] = [];
    for (const server of [service, bare]) {
      const api = bed.client(server, tenantId);
      const create = () => aDept(api, { parentId, ...FIELDS });
      await create();
      shapes.push((await ownStatementsOf(dataSource, create)).map(shapeOf).join('; '));
      api.close();
    }
    const [own = '', theirs = ''] = shapes;
    if (own !== theirs) throw new Error(`The service runs ${own}, the baseline ${theirs}.`);

    const round = {
      connections: TENANTS,
      warmUp: 2500,
      request: (connection: number): string => requests[connection] ?? '',
    };
    const sides = [await cpuSide(service, round), await cpuSide(bare, round)] as const;
    const found = await compare(BOUND, ROUNDS, ...sides);
    const heading = {
      work: 'POST department, MariaDB',
      baseline: 'bare transaction of the same statements',
      bound: BOUND,
      aim: 1.1,
    };
    return [ratioResult(heading, found, 'µs CPU')];
  },
};
