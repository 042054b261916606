import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { FullHouse } from '../support/full-house';
import { times } from '../support/long-run';
import { until } from '../support/until';

const STREAMS = times(360, 72);
const AT_ONCE = 12;
const SEED = Number(process.env.SEED ?? 20_261_115);
const LAST = 'last';
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/** A house, and how many of its refusals were made from the bytes. */
interface Twin {
  readonly house: FullHouse;
  early: number;
}

type Piece = (house: FullHouse, id: string) => string;

const get: Piece = (house, id) => `${house.head()}X-Request-Id: ${id}\r\n\r\n`;
const withHeader =
  (header: string): Piece =>
  (house, id) =>
    `${house.head()}X-Request-Id: ${id}\r\n${header}\r\n\r\n`;
const withBody =
  (body: Piece): Piece =>
  (house, id) => {
    const text = body(house, `${id}-in`);
    return `${house.head('POST /system/dept-api')}X-Request-Id: ${id}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  };
const chunked: Piece = (house, id) => {
  const text = get(house, `${id}-in`);
  const head = `${house.head('POST /system/dept-api')}X-Request-Id: ${id}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  return `${head}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
};

const PLAIN: readonly Piece[] = [get, get, get, withBody(get), withBody(() => '{}')];
const ODD: readonly Piece[] = [
  withBody(withBody(get)),
  chunked,
  (house, id) => get(house, `${id}-1`) + get(house, `${id}-2`),
  (house, id) => `\r\n\r\n${get(house, id)}`,
  (house, id) => get(house, id).replaceAll('\r\n', '\n'),
  (house, id) => get(house, id).replace('HTTP/1.1', 'HTTP/1.0'),
  (house, id) => `${house.head()}X-Request-Id:${id}\r\n\r\n`,
  (house, id) => `${house.head()}X-Request-Id:  ${id} \r\n\r\n`,
  () => 'no request\r\n\r\n',
  () => 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  ...[
    'X-Request-Id: other',
    'Accept-Language: fr, en;q=0.5',
    'Accept-Language: en;q=0.1, zh',
    'Accept-Language: en',
    'Connection: close',
    'Connection: keep-alive\r\nConnection: close',
    'Content-Length: 0\r\nContent-Length: 0',
    'Transfer-Encoding : chunked',
    'Origin: https://app.example',
    'Expect: something',
    'no colon',
    'A name: x',
    'Folded: x\r\n y',
    ': nameless',
    'X-\xe9: x',
    'X: \0',
    `X: ${'x'.repeat(20_000)}`,
  ].map(withHeader),
];

/** So many are refused one after the other, before anything else: then the connection is refused from its bytes. */
const FIRST = 4;
/** Further requests on the same connection, each in how many writes, and whether it comes with the one before. */
const stream = fc.array(
  fc.record({
    piece: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...PLAIN) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD) },
    ),
    cuts: fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 2 }),
    isGlued: fc.boolean(),
  }),
  { minLength: 2, maxLength: 8 },
);
type Stream = (typeof stream extends fc.Arbitrary<infer T> ? T : never)[number][];

describe('refusals from the bytes', () => {
  const twins: Twin[] = [];
  const empty: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    for (const EARLY_REFUSALS of ['on', 'off']) {
      const house = await FullHouse.start({ EARLY_REFUSALS });
      twins.push({ house, early: 0 });
      empty.push(await house.fill());
    }
  });
  afterAll(async () => {
    for (const letGo of empty) await letGo();
    for (const { house } of twins) await house.stop();
  });

  /** What a client is told, but for what is different each time. */
  async function answers(twin: Twin, requests: Stream): Promise<string[]> {
    const { house } = twin;
    const line = house.wire();
    const { socket } = line;
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    let ended = false;
    socket.once('end', () => (ended = true));
    for (let n = 0; n < FIRST; n += 1) {
      line.send(`GET ${house.path}`);
      await line.answer();
    }
    for (const chunk of chunksOf(requests, house)) {
      socket.write(Buffer.from(chunk, 'latin1'));
      await sleep(8);
    }
    socket.write(`${house.head('GET /health/live')}X-Request-Id: ${LAST}\r\n\r\n`);
    await until(() => ended || text.includes(`: ${LAST}\r\n`));
    await sleep(10);
    socket.destroy();
    const all = text.split(/(?=HTTP\/1\.1 \d)/);
    twin.early += all.filter(
      (answer) => answer.startsWith('HTTP/1.1 503') && !/\r\nDate:/i.test(answer),
    ).length;
    return all.map((answer) => toldIn(answer));
  }

  it('say what those through Node say, whatever else is on the connection', async () => {
    const streams = fc.sample(stream, { seed: SEED, numRuns: STREAMS });
    for (let from = 0; from < STREAMS; from += AT_ONCE) {
      await Promise.all(
        streams.slice(from, from + AT_ONCE).map(async (requests, at) => {
          const [early, byNode] = await Promise.all(twins.map((twin) => answers(twin, requests)));
          expect({ stream: from + at, answers: early }).toEqual({ stream: from + at, answers: byNode });
        }),
      );
    }
    expect(twins[0]!.early).toBeGreaterThan(2 * STREAMS);
    expect(twins[1]!.early).toBe(0);
  });
});

function chunksOf(requests: Stream, house: FullHouse): string[] {
  const chunks: string[] = [];
  requests.forEach(({ piece, cuts, isGlued }, at) => {
    const text = piece(house, `id-${at}`);
    const bounds = [0, ...cuts.sort((a, b) => a - b), text.length];
    const parts = bounds.slice(1).map((bound, n) => text.slice(bounds[n], bound));
    if (isGlued && chunks.length > 0) chunks.push(chunks.pop()! + parts.shift()!);
    chunks.push(...parts);
  });
  return chunks.filter(Boolean);
}

function toldIn(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const values = ['x-request-id', 'connection', 'retry-after', 'content-length'].map(
    (name) => new RegExp(`\r\n${name}: (.*)`, 'i').exec(head)?.[1],
  );
  return [head.slice(0, 12), ...values, body].join(' ').replace(UUID, '<id>');
}
