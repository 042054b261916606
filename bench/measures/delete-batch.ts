import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import { figureResult, type Measure } from '../support/result';
import { ownStatementsOf, shapeOf } from '../support/statements';

const DELETED = 500;
const TREE = 1000;

/** Deleting as many departments as one request may name. */
export const deleteBatch: Measure = {
  name: 'delete-batch',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const tenantId = await aTenantRow(dataSource);
    const base = await fillWithDepts(dataSource, tenantId, TREE);
    const api = bed.client(await bed.service(), tenantId);
    // The last ones have nothing below them.
    const ids = Array.from({ length: DELETED }, (_, at) => base + TREE - at);
    await api.delete(`/system/dept-api/${ids.pop() ?? 0}`);
    ids.push(base + TREE - DELETED);
    const statements = await ownStatementsOf(dataSource, async () => {
      const { status, text } = await api.delete(`/system/dept-api/${ids.join(',')}`);
      if (status !== 200) throw new Error(text);
    });
    api.close();
    const heading = { work: 'Batch delete of 500', baseline: '', bound: 8 };
    return [figureResult(heading, statements.length, 'statements', statements.map(shapeOf).join('; '))];
  },
};
