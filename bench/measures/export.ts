import { get } from 'node:http';
import { mintToken } from '../../src/server/testing';
import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import { compare } from '../support/compare';
import { fillQuickly } from '../support/quick-fill';
import { figureResult, ratioResult, type Measure } from '../support/result';
import type { ServerProcess } from '../support/server-process';

const DEPTS = 500_000;
const ROUNDS = 3;
const TIME_BOUND = 1.5;
const MEMORY_BOUND = 60;
const NEW_LINE = 10;

/** All departments as a file, in the form that is given when none is asked for (NDJSON). */
export const exportAll: Measure = {
  name: 'export',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const tenantId = await aTenantRow(dataSource);
    await fillQuickly(dataSource, () => fillWithDepts(dataSource, tenantId, DEPTS));
    const service = await bed.service();
    const bare = await bed.baseline('export-mariadb');
    const token = mintToken({ tenantId });

    // What any work makes a process grow by is not the export's.
    const api = bed.client(service, tenantId);
    for (let n = 0; n < 200; n += 1) await api.get('/system/dept-api?limit=500');
    api.close();
    const before = service.memoryMb('VmRSS');
    service.forgetPeak();
    await exportFrom(service, token);
    const grown = service.memoryMb('VmHWM') - before;

    await exportFrom(bare, token);
    const found = await compare(
      TIME_BOUND,
      ROUNDS,
      () => exportFrom(service, token),
      () => exportFrom(bare, token),
    );
    const work = `Export of ${DEPTS.toLocaleString('en')} (NDJSON)`;
    const memory = {
      work: `${work}: growth of memory`,
      baseline: 'after 200 pages of 500',
      bound: MEMORY_BOUND,
    };
    const time = { work: `${work}: time`, baseline: 'raw streamed SELECT', bound: TIME_BOUND };
    const told = `from ${before.toFixed(0)} MB to ${(before + grown).toFixed(0)} MB at most`;
    return [figureResult(memory, grown, 'MB', told), ratioResult(time, found, 's')];
  },
};

/** Gives the seconds that it took. */
function exportFrom(server: ServerProcess, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const headers = { authorization: `Bearer ${token}` };
    get(`${server.baseUrl}/system/dept-api/export`, { headers, agent: false }, (response) => {
      let lines = 0;
      response.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, at + 1)) lines += 1;
      });
      response.on('end', () => {
        if (lines === DEPTS) resolve((performance.now() - start) / 1000);
        else reject(new Error(`${lines} lines were exported, not ${DEPTS}.`));
      });
      response.on('error', reject);
    }).on('error', reject);
  });
}
