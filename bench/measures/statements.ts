import { ApiClient } from '../../src/testing/api-client';
import { figureResult, type Measure } from '../support/result';
import { listOf, shapesOf, statementsOf, withoutStateLookups } from '../support/statements';
import { fillTenants } from '../support/world';

const DELETED = 500;
const READS = 500;

/** How many statements the database runs for reads by id, and for deleting as many as one request may name. */
export const statements: Measure = {
  name: 'statements',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const [caller] = await fillTenants(dataSource, { tenants: 1, depts: 2000 });
    if (!caller) throw new Error('There is no caller.');
    const api = new ApiClient((await bed.service()).baseUrl).as(caller.token);
    const send = async (method: string, path: string): Promise<void> => {
      const { status, text } = await api.send(method, `/system/dept-api/${path}`);
      if (status !== 200) throw new Error(text);
    };
    const reads = await statementsOf(dataSource, async () => {
      for (let n = 0; n < READS; n += 1) await send('GET', String(caller.firstDept + n));
    });
    const own = withoutStateLookups(reads).length;
    // The last ones have nothing below them.
    const last = caller.firstDept + caller.depts - 1;
    await send('DELETE', String(last));
    const ids = Array.from({ length: DELETED }, (_, at) => last - 1 - at);
    const batch = shapesOf(await statementsOf(dataSource, () => send('DELETE', ids.join(','))));
    api.close();
    const heading = { baseline: '', bound: 1 };
    return [
      figureResult(
        { ...heading, work: 'SQL statements per read by id' },
        own / READS,
        '',
        `${own} for ${READS} reads`,
      ),
      figureResult(
        { ...heading, work: 'Batch delete of 500', bound: 8 },
        batch.length,
        'statements',
        listOf(batch),
      ),
    ];
  },
};
