import fc from 'fast-check';
import { aDept, type Answer, type ApiClient } from '../../src/testing';
import { times } from '../support/long-run';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';

interface Node {
  deptName: string;
  leader: string | null;
  children: Node[];
}

describe('a file of departments that goes out and comes back', () => {
  let service: ServiceUnderTest;

  beforeAll(async () => {
    service = await ServiceUnderTest.start();
  });
  afterAll(() => service.stop());

  const another = async () => service.as({ tenantId: await aTenantRow(service.dataSource) });
  const fetchFile = (from: ApiClient, type: string) => from.get(`${PATH}/export`, { accept: type });
  const send = (to: ApiClient, text: string, type: string): Promise<Answer> =>
    to.send('POST', `${PATH}/import`, text, { 'content-type': type });
  const take = async (to: ApiClient, text: string, type: string) => {
    const answer = await send(to, text, type);
    expect([answer.status, answer.body.msg]).toEqual([200, '操作成功']);
    return answer.body.data;
  };

  describe('keeps the order of all siblings,', () => {
    /** The tree as it is shown, each department by its name and by its leader, who is nobody else's. */
    async function shown(api: ApiClient): Promise<unknown> {
      const { rows } = (await api.get(`${PATH}/tree`)).body.data as { rows: Node[] };
      const plain = (nodes: Node[]): unknown =>
        nodes.map(({ deptName, leader, children }) => [deptName, leader, plain(children)]);
      return plain(rows);
    }

    async function comesBack(type: string, tree: { under: number; deptName: string; orderNum: number }[]) {
      const [from, to] = [await another(), await another()];
      const ids: number[] = [];
      for (const [n, { under, ...dept }] of tree.entries()) {
        const parentId = ids[under % (ids.length + 1)] ?? 0;
        ids.push(await aDept(from, { ...dept, leader: `${n}`, parentId }));
      }
      await take(to, (await fetchFile(from, type)).text, type);
      expect(await shown(to)).toEqual(await shown(from));
    }

    it('where some of them share a name and some an orderNum', async () => {
      const from = await another();
      const siblings = ['a 0', 'a 0', 'b 0', 'c 1', 'b 1', 'a -1'].map((each) => each.split(' '));
      for (const [n, [deptName, orderNum]] of siblings.entries())
        await aDept(from, { deptName, orderNum: Number(orderNum), leader: `${n}` });
      const to = await another();
      await take(to, (await fetchFile(from, NDJSON)).text, NDJSON);
      expect(await shown(to)).toEqual(await shown(from));
    });

    it.each([NDJSON, CSV])('whatever the tree, as %s', async (type) => {
      const depts = fc.array(
        fc.record({
          under: fc.nat({ max: 2 }),
          deptName: fc.constantFrom('a', 'b', 'a#2'),
          orderNum: fc.integer({ min: 0, max: 1 }),
        }),
        { minLength: 8, maxLength: 14 },
      );
      await fc.assert(
        fc.asyncProperty(depts, (tree) => comesBack(type, tree)),
        { numRuns: times(60, 15) },
      );
    });

    it('and where a file contradicts itself, keeps the numbers of names', async () => {
      const lines = ['a#2', 'a#3', 'b', 'a', 'b#3', 'b#2'].map((path) => ({ path, leader: path }));
      const file = lines.map((line) => JSON.stringify(line)).join('\n');
      const to = await another();
      expect(await take(to, file, NDJSON)).toMatchObject({ created: 6 });
      expect(await take(to, file, NDJSON)).toMatchObject({ created: 0, updated: 0, unchanged: 6 });
    });
  });
});
