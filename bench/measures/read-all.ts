import { ApiClient } from '../../src/testing/api-client';
import { interleave, type Side } from '../support/figures';
import { ratioResult, type Measure } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { fillTenants } from '../support/world';

const DEPTS = 50_000;
const ROUNDS = 5;

/** All departments with their ids, by pages of 500: the service against the keyset statement behind the smallest Nest application. */
export const readAll: Measure = {
  name: 'read-all',
  async run(bed) {
    const [caller] = await fillTenants(await bed.dataSource(), { tenants: 1, depts: DEPTS });
    const mariadbCpu = await bed.mariadbCpu();
    const servers = [await bed.service(), await bed.baseline('smallest-nest')];
    const mariadbMs = servers.map((): number[] => []);
    const side =
      (server: ServerProcess, at: number): Side =>
      async () => {
        const [start, before] = [performance.now(), mariadbCpu()];
        await walk(server, caller?.token ?? '');
        mariadbMs[at]?.push(mariadbCpu() - before);
        return performance.now() - start;
      };
    await interleave(servers.map(side), 1);
    for (const costs of mariadbMs) costs.length = 0;
    const [own = [], theirs = []] = await interleave(servers.map(side), ROUNDS);
    const [ownCpu = [], theirCpu = []] = mariadbMs;
    const heading = { baseline: 'the smallest Nest application', bound: 1.5 };
    const work = '50,000 departments by pages of 500';
    return [
      ratioResult({ ...heading, work: `${work}: time` }, own, theirs, 'ms'),
      ratioResult({ ...heading, work: `${work}: CPU of MariaDB` }, ownCpu, theirCpu, 'ms'),
    ];
  },
};

async function walk(server: ServerProcess, token: string): Promise<void> {
  const api = new ApiClient(server.baseUrl).as(token);
  let [count, cursor] = [0, ''];
  for (let hasMore = true; hasMore;) {
    const { body } = await api.get(`/system/dept-api?limit=500${cursor}`);
    const page = body.data as { rows: unknown[]; nextCursor: string | null };
    count += page.rows.length;
    hasMore = page.nextCursor !== null;
    cursor = `&cursor=${page.nextCursor ?? ''}`;
  }
  api.close();
  if (count !== DEPTS) throw new Error(`${count} departments were read, not ${DEPTS}.`);
}
