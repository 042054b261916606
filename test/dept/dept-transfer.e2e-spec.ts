import fc from 'fast-check';
import { aDept, type Answer, type ApiClient } from '../../src/server/testing';
import { expectRefused } from '../support/refusals';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { times } from '../support/long-run';

const PATH = '/system/dept-api';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';

interface Line {
  path: string;
  [field: string]: unknown;
}
interface Report {
  created: number;
  updated: number;
  unchanged: number;
  refused?: number;
  lines?: { line: number; fate: string; problems?: { field: string; message: string }[] }[];
}

describe('moving departments between tenants as a file', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  const another = async () => {
    const id = await aTenantRow(service.dataSource);
    return { tenantId: id, api: service.as({ tenantId: id }) };
  };

  beforeEach(async () => {
    ({ tenantId, api } = await another());
  });

  const send = (text: string, { to = api, type = NDJSON, query = '', headers = {} } = {}): Promise<Answer> =>
    to.send('POST', `${PATH}/import${query}`, text, { 'content-type': type, ...headers });
  const ndjson = (...lines: Line[]) => lines.map((line) => JSON.stringify(line)).join('\n');
  const report = ({ status, body }: Answer): Report => {
    expect([status, body.msg]).toEqual([200, '操作成功']);
    return body.data as Report;
  };
  const fetchFile = (from: ApiClient, type = NDJSON) => from.get(`${PATH}/export`, { accept: type });
  const linesOf = ({ text }: Answer) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);

  it('an export gives every department as a line, parents first, by paths of names', async () => {
    const top = await aDept(api, { deptName: '总公司', leader: '张三', orderNum: 1 });
    const rd = await aDept(api, { deptName: '研发部', parentId: top, email: 'a@b.cn', status: '1' });
    await api.patch(`${PATH}/${rd}`, { status: '0' });
    await aDept(api, { deptName: 'a/b\\c', parentId: rd, phone: '' });
    const answer = await fetchFile(api);
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(linesOf(answer)).toEqual([
      { path: '总公司', orderNum: 1, leader: '张三', phone: null, email: null, status: '0' },
      { path: '总公司/研发部', orderNum: 0, leader: null, phone: null, email: 'a@b.cn', status: '0' },
      { path: '总公司/研发部/a\\/b\\\\c', orderNum: 0, leader: null, phone: '', email: null, status: '0' },
    ]);
    const table = await fetchFile(api, CSV);
    expect(table.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(table.text.split('\r\n').slice(0, 3)).toEqual([
      'path,orderNum,leader,phone,email,status',
      '总公司,1,张三,,,0',
      '总公司/研发部,0,,,a@b.cn,0',
    ]);
    expect(table.text).toContain('a\\/b\\\\c,0,,"",,0');
  });

  it('an export chooses the format by Accept, and refuses one it does not have', async () => {
    const typeFor = async (accept?: string) =>
      (await api.get(`${PATH}/export`, accept === undefined ? {} : { accept })).headers[
        'content-type'
      ]?.split(';')[0];
    expect(await typeFor()).toBe(NDJSON);
    expect(await typeFor('*/*')).toBe(NDJSON);
    expect(await typeFor('text/html, text/csv;q=0.5, */*;q=0.1')).toBe(CSV);
    expectRefused(await api.get(`${PATH}/export`, { accept: 'image/png' }), 406, 'NOT_ACCEPTABLE');
  });

  it.each([NDJSON, CSV])(
    'an export comes back as it went, as %s: any tree, with names and values of any kind',
    async (type) => {
      const text = fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 6 }).map((each) => each.replaceAll('\0', '')),
        fc.constantFrom('', 'x', '#2', 'x#2', '/', '\\', '"', ',', '部\n门', '=1+1'),
      );
      const rows = fc.array(
        fc.record({
          under: fc.nat({ max: 30 }),
          deptName: text,
          orderNum: fc.integer({ min: -2, max: 2 }),
          leader: fc.option(text),
          phone: fc.option(text),
          status: fc.constantFrom('0', '0', '1'),
        }),
        { minLength: 1, maxLength: 15 },
      );
      await fc.assert(
        fc.asyncProperty(rows, async (tree) => {
          const [from, to] = [await another(), await another()];
          const ids: number[] = [];
          for (const { under, ...dept } of tree) {
            const parentId = ids[under % (ids.length + 1)] ?? 0;
            ids.push(await aDept(from.api, { ...dept, status: '0', parentId }));
          }
          for (const [n, { status }] of tree.entries()) {
            if (status === '1') await from.api.patch(`${PATH}/${ids[n]!}`, { status });
          }
          const file = await fetchFile(from.api, type);
          const made = report(await send(file.text, { to: to.api, type }));
          expect(made).toEqual({ created: tree.length, updated: 0, unchanged: 0 });
          // The same lines; siblings' subtrees may have changed places, since ids decide about those.
          const sorted = ({ text: each }: Answer) => each.split('\n').sort();
          expect(sorted(await fetchFile(to.api, type))).toEqual(sorted(file));
          const again = report(await send(file.text, { to: to.api, type }));
          expect(again).toEqual({ created: 0, updated: 0, unchanged: tree.length });
        }),
        { numRuns: times(25, 10) },
      );
    },
  );

  it('an import makes what is new, changes what differs, and leaves alone what a line does not say', async () => {
    const top = await aDept(api, { deptName: 'a', leader: 'x', phone: '1' });
    const before = await aDept(api, { deptName: 'b', parentId: top, leader: 'x', orderNum: 4 });
    const file = ndjson(
      { path: 'a/c/d', leader: 'new' },
      { path: 'a/b', orderNum: 5 },
      { path: 'a', phone: null },
      { path: 'a/c' },
    );
    expect(report(await send(file))).toEqual({ created: 2, updated: 2, unchanged: 0 });
    const read = async (id: number) => (await api.get(`${PATH}/${id}`)).body.data;
    expect(await read(top)).toMatchObject({ leader: 'x', phone: null, updateBy: 'tester' });
    expect(await read(before)).toMatchObject({ leader: 'x', orderNum: 5, parentId: top });
    expect(linesOf(await fetchFile(api)).map(({ path }) => path)).toEqual(['a', 'a/c', 'a/b', 'a/c/d']);
    const found = (await api.get(`${PATH}?deptName=d`)).body.data as { rows: { leader: string }[] };
    expect(found.rows).toMatchObject([{ leader: 'new', ancestors: expect.any(String) as string }]);
  });

  it('an import reads a file without a type of its own as lines of JSON, as generated clients send it', async () => {
    expect(report(await send(ndjson({ path: 'a' }), { type: 'application/octet-stream' }))).toMatchObject({
      created: 1,
    });
  });

  it('an import reads a table by its head: columns in any order, some left out, unknown ones ignored', async () => {
    const file = '\ufeffnote,leader,path\r\n"x, y",张三,a\r\n,"",a/b\r\n';
    expect(report(await send(file, { type: CSV }))).toMatchObject({ created: 2 });
    expect(linesOf(await fetchFile(api))).toMatchObject([
      { path: 'a', leader: '张三' },
      { path: 'a/b', leader: '' },
    ]);
  });

  it('an import tells siblings of the same name apart, however far apart they stand and however the lines are ordered', async () => {
    const file = ndjson(
      { path: 'a#2', leader: 'two', orderNum: 1 },
      { path: 'a#2/x' },
      { path: 'a', leader: 'one', orderNum: 5 },
    );
    expect(report(await send(file))).toEqual({ created: 3, updated: 0, unchanged: 0 });
    for (let n = 0; n < 2; n += 1)
      expect(report(await send(file))).toEqual({ created: 0, updated: 0, unchanged: 3 });
    const between = Array.from({ length: 1100 }, (_, n) => ({ path: `x${n}`, orderNum: 3 }));
    expect(report(await send(ndjson(...between)))).toMatchObject({ created: 1100 });
    const whole = await fetchFile(api);
    expect(report(await send(whole.text))).toEqual({ created: 0, updated: 0, unchanged: 1103 });
    expect(linesOf(whole).find(({ path }) => path === 'a#2')).toMatchObject({ leader: 'two' });
  });

  describe('files that are refused and change nothing', () => {
    /** The line and the field of each problem. */
    const namedIn = ({ refusal }: Answer) => refusal.fields!.map(({ line, field }) => `${line} ${field}`);
    const bad: [string, string, string[]][] = [
      ['a line that is no object', '{"path":"a"}\n[1]\n{', ['2 line', '3 line']],
      ['no path', '{"deptName":"a"}', ['1 path']],
      [
        'a wrong field',
        ndjson({ path: 'a', status: '2', orderNum: 1.5, email: 'x' }),
        ['1 orderNum', '1 email', '1 status'],
      ],
      ['a name that is too long', ndjson({ path: `a/${'x'.repeat(65)}` }), ['1 path']],
      ['a path that is too deep', ndjson({ path: 'a/'.repeat(64) + 'a' }), ['1 path']],
      ['a path twice', ndjson({ path: 'a' }, { path: 'b' }, { path: 'a' }), ['3 path']],
      ['a parent that is nowhere', ndjson({ path: 'a' }, { path: 'b/c' }), ['2 path']],
      ['a broken escape', ndjson({ path: 'a\\' }), ['1 path']],
    ];
    it.each(bad)('an import is refused for %s', async (_, file, fields) => {
      const answer = await send(`${file}\n\n{"path":"good"}`);
      expect([answer.status, namedIn(answer)]).toEqual([400, fields]);
      expect((await fetchFile(api)).text).toBe('');
    });

    it('an import is refused for a table without a path, or with broken quotes', async () => {
      expect(namedIn(await send('name\r\na\r\n', { type: CSV }))).toEqual(['1 line']);
      expect(namedIn(await send('path\r\na\r\n"b\r\n', { type: CSV }))).toEqual(['3 line']);
      const wrong = await send('path,orderNum\r\na,x\r\n', { type: CSV });
      expect(namedIn(wrong)).toEqual(['2 orderNum']);
    });

    it('an import is refused for rows of another width than the head, which would shift values, or a head with a column twice', async () => {
      const top = await aDept(api, { deptName: 'a', leader: 'x', status: '1' });
      const head = 'path,orderNum,leader,phone,email,status\r\n';
      for (const row of ['a', 'a,1,x, y,,,0', 'a,1,x,,']) {
        const answer = await send(`${head}${row}\r\n`, { type: CSV });
        expect([row, ...namedIn(answer)]).toEqual([row, '2 line']);
      }
      expect(namedIn(await send('path,path\r\na,a', { type: CSV }))).toEqual(['1 line']);
      expect((await api.get(`${PATH}/${top}`)).body.data).toMatchObject({ leader: 'x', status: '1' });
      expect(report(await send(`${head}a,0,x,,,1\r\n,,,,,\r\n \r\n`, { type: CSV }))).toMatchObject({
        unchanged: 1,
      });
    });

    it('an import is refused for a number of a name without the one before it', async () => {
      expect(namedIn(await send(ndjson({ path: 'a#2' })))).toEqual(['1 path']);
      await aDept(api, { deptName: 'a' });
      expect(report(await send(ndjson({ path: 'a#2' })))).toMatchObject({ created: 1 });
      expect(namedIn(await send(ndjson({ path: 'a#4' })))).toEqual(['1 path']);
    });

    it('an import is refused for a parent that is disabled, unless the file enables it', async () => {
      await aDept(api, { deptName: 'a', status: '1' });
      expect(namedIn(await send(ndjson({ path: 'a/b' })))).toEqual(['1 path']);
      expect(report(await send(ndjson({ path: 'a/b' }, { path: 'a', status: '0' })))).toMatchObject({
        created: 1,
        updated: 1,
      });
    });

    it('an import is refused for another type or another encoding', async () => {
      const gzip = { 'content-encoding': 'gzip' };
      const types = ['application/json', 'text/plain', `${NDJSON}; charset=gbk`].map((type) => ({ type }));
      for (const how of [...types, { headers: gzip }])
        expect((await send('{}', how)).refusal.reason).toBe('UNSUPPORTED_MEDIA_TYPE');
      const english = api.with({ 'accept-language': 'en' });
      expect((await send('{}', { to: english, type: 'text/plain' })).refusal.fields).toEqual([
        {
          field: 'Content-Type',
          message: `must be ${NDJSON} or application/octet-stream or ${CSV}, in UTF-8`,
        },
      ]);
      expect((await send('{}', { to: english, headers: gzip })).refusal.fields).toEqual([
        { field: 'Content-Encoding', message: 'must be identity' },
      ]);
    });

    it('an import is refused for bytes that are no UTF-8, a second byte order mark, or broken JSON, and says where', async () => {
      const english = api.with({ 'accept-language': 'en' });
      const problemsOf = async (file: string | Buffer, type = NDJSON) =>
        (await english.send('POST', `${PATH}/import`, file, { 'content-type': type })).refusal.fields;
      const long = '{"path":"研发部","leader":"张三"}\n'.repeat(1500);
      const latin = Buffer.concat([
        Buffer.from(`${long}{"path":"`),
        Buffer.from([0xe9]),
        Buffer.from('"}\n'),
      ]);
      const problems = await problemsOf(latin);
      expect(problems?.at(-1)).toEqual({ line: 1501, field: 'line', message: 'is not UTF-8' });
      const cut = Buffer.from('path\r\na\r\n研').subarray(0, -1);
      expect(await problemsOf(cut, CSV)).toEqual([{ line: 3, field: 'line', message: 'is not UTF-8' }]);
      const joined = '\ufeff{"path":"a"}\n\ufeff{"path":"b"}\n';
      const second = 'begins with a second byte order mark, as after joining two files';
      expect(await problemsOf(joined)).toEqual([{ line: 2, field: 'line', message: second }]);
      expect(await problemsOf('\ufeff\ufeffpath\r\na', CSV)).toEqual([
        { line: 1, field: 'line', message: second },
      ]);
      expect(await problemsOf('{"path":"a"}\n{"path":"b" "leader":1}\n')).toEqual([
        { line: 2, field: 'line', message: 'is not valid JSON at column 13' },
      ]);
      expect((await fetchFile(api)).text).toBe('');
    });

    it('a refused import names all bad lines at once, in the shape of the dry run', async () => {
      const file = ndjson(
        { path: 'no/parent' },
        { path: 'a', email: 'x', status: '9' },
        { path: 'a/b' },
        { path: 'good' },
        { path: 'good' },
        { path: 'a#2' },
      );
      const refused = await send(`${file}\n{`);
      expect(namedIn(refused)).toEqual(['1 path', '2 email', '2 status', '5 path', '7 line']);
      const { lines } = report(await send(`${file}\n{`, { query: '?dryRun=true' }));
      const told = lines!.flatMap(({ line, problems = [] }) => problems.map((each) => ({ line, ...each })));
      expect(refused.refusal.fields).toEqual(told);
    });

    it('an import of a caller without the role is refused before it is read', async () => {
      const member = service.as({ tenantId, roles: ['member'] });
      expect((await send('{', { to: member })).refusal.reason).toBe('ROLE_REQUIRED');
      expect((await send('{', { to: service.anonymous })).refusal.reason).toBe('TOKEN_MISSING');
      expect((await fetchFile(member)).status).toBe(200);
    });
  });

  it('a dry run tells what would become of every line, and writes nothing', async () => {
    await aDept(api, { deptName: 'a', leader: 'x' });
    const file = ndjson(
      { path: 'a' },
      { path: 'a', leader: 'y' },
      { path: 'a/b' },
      { path: 'c/d' },
      { path: 'e', status: '3' },
    );
    const english = api.with({ 'accept-language': 'en' });
    const dryRun = report(await send(`${file}\n{`, { to: english, query: '?dryRun=true' }));
    expect(dryRun).toMatchObject({ created: 1, updated: 0, unchanged: 1, refused: 4 });
    expect(dryRun.lines?.map(({ line, fate }) => `${line} ${fate}`)).toEqual([
      '1 unchanged', '2 refused', '3 created', '4 refused', '5 refused', '6 refused',
    ]); // prettier-ignore
    expect(dryRun.lines?.[3]?.problems).toEqual([
      { field: 'path', message: expect.stringMatching(/^has no parent/) as string },
    ]);
    expect(linesOf(await fetchFile(api))).toHaveLength(1);
    expect(report(await send(ndjson({ path: 'a', leader: 'y' }), { query: '?dryRun=false' }))).toMatchObject({
      updated: 1,
    });
    expect((await send('', { query: '?dryRun=x' })).refusal.fields?.[0]?.field).toBe('dryRun');
  });

  it('an import is taken once with an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k' };
    const first = await send(ndjson({ path: 'a' }), { headers });
    const again = await send(ndjson({ path: 'a' }), { headers });
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect((await send(ndjson({ path: 'b' }), { headers })).refusal.reason).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  const MANY = times(20_000, 4000);

  it(`an import takes ${MANY} lines in one transaction, and ${MANY} changes in another`, async () => {
    const paths = Array.from({ length: MANY }, (_, n) => (n < 100 ? `p${n}` : `p${n % 100}/d${n}`));
    const file = (leader: string) => paths.map((path) => JSON.stringify({ path, leader })).join('\n');
    expect(report(await send(file('x')))).toEqual({ created: MANY, updated: 0, unchanged: 0 });
    expect(report(await send(file('y')))).toEqual({ created: 0, updated: MANY, unchanged: 0 });
    const found = (await api.get(`${PATH}?deptName=d${MANY - 1}`)).body.data as { rows: unknown[] };
    expect(found.rows).toMatchObject([{ deptName: `d${MANY - 1}`, leader: 'y' }]);
    expect(linesOf(await fetchFile(api))).toHaveLength(MANY);
  });

  it('an import and an export let others have their turns meanwhile', async () => {
    const paths = Array.from({ length: 4000 }, (_, n) => JSON.stringify({ path: `p${n}` })).join('\n');
    /** How many others are answered, one after the other, before it is over. */
    const answeredMeanwhile = async (work: Promise<unknown>) => {
      let [answered, over] = [0, false];
      void work.finally(() => (over = true));
      while (!over) {
        await service.anonymous.get('/health/live');
        answered += 1;
      }
      return answered;
    };
    // One or two without turns: they are answered before it begins, or after it is over.
    expect(await answeredMeanwhile(send(paths))).toBeGreaterThan(5);
    expect(await answeredMeanwhile(fetchFile(api))).toBeGreaterThan(1);
  });
});
