import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwAwayDatabase, type Answer, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { forgetPeak, memoryMb } from '../support/process-memory';
import { emptyDatabase } from '../support/test-database';

const PATH = '/system/dept-api';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
const HOOK = join(__dirname, '..', 'support', 'event-loop-hook.js');
/** No turn of the event loop may hold more work, whatever is imported. */
const MOST_MS = 50;
/** More than the service has after its start, for four imports at once. */
const MOST_MB = 300;

const MANY = 20_000;
const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const longName = (n: number) => `${n} ${'x'.repeat(64)}`.slice(0, 64);

interface Input {
  readonly name: string;
  readonly type: string;
  readonly text: () => string;
  /** The answer to an import; a dry run that can be read is answered 200. */
  readonly status: number;
}

const HOSTILE: Input[] = [
  { name: '15 MB of quotes', type: CSV, text: () => '"'.repeat(15_000_000), status: 400 },
  { name: '15 MB of brackets', type: NDJSON, text: () => '['.repeat(15_000_000), status: 400 },
  { name: '16 million line breaks', type: NDJSON, text: () => '\n'.repeat(16_000_000), status: 400 },
  { name: '15 MB of commas', type: CSV, text: () => `path${','.repeat(15_000_000)}`, status: 400 },
  { name: 'empty rows', type: CSV, text: () => `path,leader\n${',\n'.repeat(7_500_000)}`, status: 400 },
  {
    name: 'lines of brackets',
    type: NDJSON,
    text: () => lines(250, () => '['.repeat(60_000)),
    status: 400,
  },
  {
    name: 'paths of backslashes',
    type: NDJSON,
    text: () => lines(800, () => `{"path":"${'\\\\'.repeat(9990)}x"}`),
    status: 400,
  },
  {
    name: 'objects with many keys',
    type: NDJSON,
    text: () => lines(250, () => `{${Array.from({ length: 6000 }, (_, n) => `"${n}":0`).join(',')}}`),
    status: 400,
  },
  {
    name: 'every field of 20,000 lines wrong',
    type: CSV,
    text: () => `path,orderNum,leader,phone,email,status\n${lines(MANY, () => `${'a/'.repeat(70)},x,${'y'.repeat(70)},${'1'.repeat(40)},z,2`)}`,
    status: 400,
  },
  {
    name: '20,000 paths of 64 steps without parents',
    type: NDJSON,
    text: () => lines(MANY, (n) => `{"path":"${n}${'/a'.repeat(63)}"}`),
    status: 400,
  },
]; // prettier-ignore

const ALLOWED: Input[] = [
  {
    name: '20,000 names of 64 characters in a table',
    type: CSV,
    text: () => `path,leader\n${lines(MANY, (n) => `${longName(n)},y`)}`,
    status: 200,
  },
  {
    name: '20,000 names of 64 characters, again',
    type: NDJSON,
    text: () => lines(MANY, (n) => JSON.stringify({ path: longName(n), leader: 'z' })),
    status: 200,
  },
  {
    name: '20,000 siblings of one name, backwards',
    type: NDJSON,
    text: () => lines(MANY, (n) => JSON.stringify({ path: `same#${MANY - n}` })),
    status: 200,
  },
  {
    name: '64 levels of 64 characters',
    type: NDJSON,
    text: () => {
      const above = Array.from({ length: 63 }, (_, n) => longName(n));
      const chain = above.map((_, n) => above.slice(0, n + 1).join('/'));
      const leaves = Array.from({ length: 3500 }, (_, n) => `${above.join('/')}/${n}`);
      return [...chain, ...leaves].map((path) => JSON.stringify({ path })).join('\n');
    },
    status: 200,
  },
];

describe.each([
  ['MariaDB', emptyDatabase],
  ['SQLite', throwAwayDatabase],
])('imports on %s', (kind, open: () => Promise<ThrowAwayDatabase>) => {
  let database: ThrowAwayDatabase;
  let service: ChildService;

  beforeAll(async () => {
    database = await open();
    service = await ChildService.start(database, { NODE_OPTIONS: `--require ${HOOK}` });
    // The first of everything is slow.
    for (const type of [CSV, NDJSON])
      for (const query of ['', '?dryRun=true']) await send({ type, text: 'path\nwarm' }, query);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const send = ({ type, text }: { type: string; text: string }, query = '', to = service.as()): Promise<Answer> =>
    to.send('POST', `${PATH}/import${query}`, text, { 'content-type': type }); // prettier-ignore

  async function longestTurn(): Promise<{ clock: number; work: number }> {
    const told = () => [...service.printed.matchAll(/longest turn (.*)\n/g)].map((match) => match[1]!);
    const before = told().length;
    service.process.kill('SIGUSR2');
    while (told().length === before) await sleep(10);
    return JSON.parse(told().at(-1)!) as { clock: number; work: number };
  }

  it.each([...HOSTILE, ...ALLOWED])('$name: no turn is long', async ({ name, type, text, status }) => {
    const file = { type, text: text() };
    for (const query of ['?dryRun=true', '']) {
      await longestTurn();
      const begun = Date.now();
      const answer = await send(file, query);
      const took = Date.now() - begun;
      const { clock, work } = await longestTurn();
      process.stdout.write(
        `${kind}, ${name}${query}: ${answer.status} after ${took} ms, longest turn ${work.toFixed(0)} ms of work (${clock.toFixed(0)} by the clock)\n`,
      );
      if (query === '')
        expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.anything()]);
      expect(work).toBeLessThan(MOST_MS);
    }
  });

  it('four at once need bounded memory, and no turn is long', async () => {
    const pid = service.process.pid!;
    const tenants = ['000000'];
    const admin = service.as();
    while (tenants.length < 4) {
      const { headers } = await admin.post('/system/tenant-api', { tenantName: `t${tenants.length}` });
      const { data } = (await admin.get(headers.location!)).body;
      tenants.push((data as { tenantId: string }).tenantId);
    }
    for (const { name, type, text } of HOSTILE) {
      const file = { type, text: text() };
      await longestTurn();
      const before = memoryMb(pid, 'VmRSS');
      forgetPeak(pid);
      const answers = await Promise.all(
        tenants.map((tenantId) => send(file, '?dryRun=true', service.as({ tenantId }))),
      );
      const { clock, work } = await longestTurn();
      const more = memoryMb(pid, 'VmHWM') - before;
      process.stdout.write(
        `${kind}, four of ${name}: ${answers.map((answer) => answer.status).join(' ')}, ${more.toFixed(0)} MB more, longest turn ${work.toFixed(0)} ms of work (${clock.toFixed(0)} by the clock)\n`,
      );
      expect(more).toBeLessThan(MOST_MB);
      expect(work).toBeLessThan(MOST_MS);
    }
  });
});
