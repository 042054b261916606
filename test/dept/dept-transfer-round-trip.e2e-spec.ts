import fc from 'fast-check';
import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { times } from '../support/long-run';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
const BOM = '\ufeff';

interface Node {
  deptName: string;
  leader: string | null;
  children: Node[];
}

describe('a file of departments that goes out and comes back', () => {
  const service = ServiceUnderTest.use();

  const another = async () => service.as({ tenantId: await aTenantRow(service.dataSource) });
  const fetchFile = (from: ApiClient, type: string, query = '') =>
    from.get(`${PATH}/export${query}`, { accept: type });
  const send = (to: ApiClient, text: string, type: string): Promise<Answer> =>
    to.send('POST', `${PATH}/import`, text, { 'content-type': type });
  const take = async (to: ApiClient, text: string, type: string) => {
    const answer = await send(to, text, type);
    expect([answer.status, answer.body.msg]).toEqual([200, '操作成功']);
    return answer.body.data;
  };

  describe('the order of siblings', () => {
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

    it.each([NDJSON, CSV])(
      'an export that is imported keeps the order of all siblings, whatever the tree, as %s',
      async (type) => {
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
      },
    );

    it('an import of a file that contradicts itself keeps the numbers of names', async () => {
      const lines = ['a#2', 'a#3', 'b', 'a', 'b#3', 'b#2'].map((path) => ({ path, leader: path }));
      const file = lines.map((line) => JSON.stringify(line)).join('\n');
      const to = await another();
      expect(await take(to, file, NDJSON)).toMatchObject({ created: 6 });
      expect(await take(to, file, NDJSON)).toMatchObject({ created: 0, updated: 0, unchanged: 6 });
    });
  });

  it.each([NDJSON, CSV])(
    'an export carries the ids where they are asked for, and an import ignores them: %s',
    async (type) => {
      const from = await another();
      const top = await aDept(from, { deptName: '总公司' });
      const child = await aDept(from, { deptName: '研发部', parentId: top });
      const { text } = await fetchFile(from, type, '?ids=true');
      const lines = text.split(/\r?\n/).filter(Boolean);
      const idsOf = (line: string) =>
        type === CSV
          ? line.split(',', 2).map(Number)
          : [Number(/"deptId":(\d+)/.exec(line)?.[1]), Number(/"parentId":(\d+)/.exec(line)?.[1])];
      expect(lines.slice(-2).map(idsOf)).toEqual([
        [top, 0],
        [child, top],
      ]);
      if (type === CSV) expect(lines[0]).toMatch(/^deptId,parentId,path,/);
      expect((await fetchFile(from, type)).text).not.toMatch(/deptId|parentId/);
      expect(await take(await another(), text, type)).toMatchObject({ created: 2 });
      expect((await fetchFile(from, type, '?ids=1x')).refusal.fields?.[0]?.field).toBe('ids');
    },
  );

  describe('a table for spreadsheets', () => {
    it('an exported table begins with a byte order mark where that is asked for', async () => {
      const from = await another();
      await aDept(from, { deptName: '总公司' });
      const [plain, marked] = [await fetchFile(from, CSV), await fetchFile(from, CSV, '?bom=true')];
      expect(plain.text.startsWith('path,')).toBe(true);
      expect(marked.text).toBe(BOM + plain.text);
      expect((await fetchFile(from, NDJSON, '?bom=true')).text.startsWith('{')).toBe(true);
      expect((await fetchFile(from, CSV, '?bom=x')).refusal.fields?.[0]?.field).toBe('bom');
      expect(await take(await another(), marked.text, CSV)).toMatchObject({ created: 1 });
      expect(await take(await another(), `${BOM}{"path":"a"}`, NDJSON)).toMatchObject({ created: 1 });
    });

    it('an exported table holds no cell that a spreadsheet takes for a formula, and comes back as it was', async () => {
      const from = await another();
      const values = ['=1+1', '+86 10', '-1', '@SUM(A1)', "'=1", "''=1", "'x", "'", '＝1', 'a=b'];
      for (const value of values) await aDept(from, { deptName: value, leader: value, orderNum: -1 });
      const file = await fetchFile(from, CSV);
      const rows = file.text.split('\r\n').slice(1, -1);
      expect(rows.map((row) => row.split(',').slice(0, 3))).toEqual(
        [`'=1+1`, `'+86 10`, `'-1`, `'@SUM(A1)`, `''=1`, `'''=1`, `'x`, `'`, `'＝1`, 'a=b'].map((cell) => [
          cell,
          '-1',
          cell,
        ]),
      );
      const to = await another();
      await take(to, file.text, CSV);
      expect((await fetchFile(to, CSV)).text).toBe(file.text);
      expect((await fetchFile(to, NDJSON)).text).toBe((await fetchFile(from, NDJSON)).text);
      expect((await fetchFile(to, NDJSON)).text).toContain('"leader":"=1+1"');
    });
  });
});
