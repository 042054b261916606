import { isDeepStrictEqual } from 'node:util';
import { mintToken } from '../../src/server/testing';
import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import { compare } from '../support/compare';
import { cpuSide } from '../support/cpu';
import { rawRequest } from '../support/load';
import { ratioResult, type Measure } from '../support/result';

const PATH = '/system/dept-api/tree';
const NODES = 5000;
const ROUNDS = 5;
const BOUND = 1.5;

/** A whole tree in one answer: the service against a bare handler that builds the same. */
export const tree: Measure = {
  name: 'tree',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const tenantId = await aTenantRow(dataSource);
    await fillWithDepts(dataSource, tenantId, NODES);
    // Departments of real life were not made all at once.
    await dataSource.query(
      `UPDATE tenantry_dept SET create_time = create_time - INTERVAL dept_id * 61 SECOND WHERE tenant_id = ?`,
      [tenantId],
    );
    const servers = [await bed.service(), await bed.baseline('tree-mariadb')] as const;
    const bodies = [];
    for (const server of servers) {
      const api = bed.client(server, tenantId);
      bodies.push((await api.get(PATH)).body);
      api.close();
    }
    if (!isDeepStrictEqual(bodies[0], bodies[1])) throw new Error('The trees differ.');

    const request = rawRequest('GET', PATH, mintToken({ tenantId }));
    const round = { connections: 2, warmUp: 20, request: () => request };
    const sides = [await cpuSide(servers[0], round), await cpuSide(servers[1], round)] as const;
    const heading = {
      work: 'Tree of 5,000 nodes',
      baseline: 'raw SELECT, the same nodes, JSON.stringify',
      bound: BOUND,
      aim: 1.1,
    };
    return [ratioResult(heading, await compare(BOUND, ROUNDS, ...sides), 'µs CPU')];
  },
};
