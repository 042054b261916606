import { throwAwayDatabase, type Answer, type ThrowAwayDatabase } from '../../src/server/testing';
import { emptyDatabase } from '../support/test-database';
import { MeasuredService, say, TELLS_TURNS } from './support/measured-service';

const PATH = '/system/dept-api';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
/** No turn of the event loop may hold more work, whatever is imported. */
const MOST_MS = 50;

const MANY = 20_000;
const HEAD = 'path,orderNum,leader,phone,email,status';
const lines = (count: number, line: (n: number) => string, end = '\n') =>
  Array.from({ length: count }, (_, n) => line(n)).join(end);
const longName = (n: number) => `${n} ${'x'.repeat(64)}`.slice(0, 64);

type Input = readonly [name: string, type: string, text: () => string];

const HOSTILE: Input[] = [
  ['15 MB of quotes', CSV, () => '"'.repeat(15_000_000)],
  ['15 MB of brackets', NDJSON, () => '['.repeat(15_000_000)],
  ['16 million line breaks', NDJSON, () => '\n'.repeat(16_000_000)],
  ['15 MB of commas', CSV, () => `path${','.repeat(15_000_000)}`],
  ['empty rows', CSV, () => `path,leader\n${',\n'.repeat(7_500_000)}`],
  ['lines of brackets', NDJSON, () => lines(250, () => '['.repeat(60_000))],
  ['paths of backslashes', NDJSON, () => lines(800, () => `{"path":"${'\\\\'.repeat(9990)}x"}`)],
  ['objects with many keys', NDJSON, () => lines(250, () => `{${lines(6000, (n) => `"${n}":0`, ',')}}`)],
  [
    'wrong fields in 20,000 lines',
    CSV,
    () => `${HEAD}\n${lines(MANY, () => `${'a/'.repeat(70)},x,y,1,z,2`)}`,
  ],
  ['20,000 paths without parents', NDJSON, () => lines(MANY, (n) => `{"path":"${n}${'/a'.repeat(63)}"}`)],
];
const ALLOWED: Input[] = [
  ['20,000 long names in a table', CSV, () => `path,leader\n${lines(MANY, (n) => `${longName(n)},y`)}`],
  ['20,000 long names', NDJSON, () => lines(MANY, (n) => JSON.stringify({ path: longName(n), leader: 'z' }))],
  ['20,000 of one name', NDJSON, () => lines(MANY, (n) => JSON.stringify({ path: `same#${MANY - n}` }))],
  ['64 levels of long names', NDJSON, deepest],
];

function deepest(): string {
  const above = Array.from({ length: 63 }, (_, n) => longName(n));
  const chain = above.map((_, n) => above.slice(0, n + 1).join('/'));
  const leaves = Array.from({ length: 3500 }, (_, n) => `${above.join('/')}/${n}`);
  return [...chain, ...leaves].map((path) => JSON.stringify({ path })).join('\n');
}

describe.each([
  ['MariaDB', emptyDatabase],
  ['SQLite', throwAwayDatabase],
])('imports on %s', (kind, open: () => Promise<ThrowAwayDatabase>) => {
  const service = MeasuredService.use({ NODE_OPTIONS: TELLS_TURNS }, open);

  beforeAll(async () => {
    // The first of everything is slow.
    for (const type of [CSV, NDJSON])
      for (const query of ['', '?dryRun=true']) await send({ type, text: 'path\nwarm' }, query);
  });
  const send = ({ type, text }: { type: string; text: string }, query: string): Promise<Answer> =>
    service.child.as().send('POST', `${PATH}/import${query}`, text, { 'content-type': type });

  it.each([...HOSTILE, ...ALLOWED])(
    'an import of %s makes no turn of the event loop long',
    async (name, type, text) => {
      const file = { type, text: text() };
      for (const query of ['?dryRun=true', '']) {
        await service.longestTurn();
        const begun = Date.now();
        const answer = await send(file, query);
        const took = Date.now() - begun;
        const turn = await service.longestTurn();
        say(`${kind}, ${name}${query}: ${took} ms, longest turn ${JSON.stringify(turn)}`);
        const status = ALLOWED.some(([each]) => each === name) ? 200 : 400;
        if (query === '') expect([answer.status, answer.text]).toEqual([status, expect.anything()]);
        expect(turn.work).toBeLessThan(MOST_MS);
      }
    },
  );
});
