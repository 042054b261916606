import { setTimeout as sleep } from 'node:timers/promises';
import { Stopping } from '../../src/http/stopping';
import { FullHouse, type RawAnswer, type Wire } from '../support/full-house';
import { HeldTime } from '../support/hand-clock';
import { until } from '../support/until';

const PAGE = 'https://app.example';
const WAIT_MS = 1000;
const bodyOf = (length: number) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
/** Only Node sets it: it tells who has answered. */
const isByNode = ({ head }: RawAnswer) => /\r\nDate:/i.test(head);

describe('refusals from the bytes', () => {
  let house: FullHouse;
  let path: string;
  let empty: () => Promise<void>;
  let line: Wire;
  let time: HeldTime;

  beforeAll(async () => {
    time = new HeldTime();
    house = await FullHouse.start({ CORS_ORIGINS: PAGE, MAX_WAIT_MS: String(WAIT_MS) });
    ({ path } = house);
  });
  afterAll(() => {
    time.release();
    return house.stop();
  });

  beforeEach(async () => {
    line = house.wire();
    empty = await house.fill();
  });
  afterEach(async () => {
    await empty();
    line.socket.destroy();
  });

  async function refused(headers?: string): Promise<RawAnswer> {
    line.send(`GET ${path}`, headers);
    const answer = await line.answer();
    expect(answer.status).toBe(503);
    return answer;
  }

  /** Until this connection is answered from the bytes. */
  async function refusedEarly(): Promise<void> {
    for (let n = 0; n < 5; n += 1) if (!isByNode(await refused())) return;
    throw new Error('Always by Node.');
  }

  it('are what a request is answered, and the same connection is served when there is room', async () => {
    const answers: RawAnswer[] = [];
    for (const more of ['', '', '', '', 'Accept-Language: en\r\n'])
      answers.push(await refused(`X-Request-Id: mine-${answers.length}\r\n${more}`));
    const early = answers.filter((answer) => !isByNode(answer));
    expect(early.length).toBeGreaterThan(2);
    expect(isByNode(answers[0]!)).toBe(true);
    expect(answers[3]!.body).toBe(answers[0]!.body.replace('mine-0', 'mine-3'));
    expect(answers[4]!.body).toContain('try again shortly');
    for (const { head } of answers) expect(head).toMatch(/\r\nRetry-After: 1\r\n/);
    expect(answers[3]!.head).toMatch(/\r\nX-Request-Id: mine-3(\r\n|$)/);
    line.send('GET /health/live');
    expect((await line.answer()).status).toBe(200);
    await empty();
    line.send(`GET ${path}`);
    expect((await line.answer()).status).toBe(200);
  });

  it('are only for what is one whole request: others are read by Node, in order', async () => {
    await refusedEarly();
    const head = `${house.head()}X-Request-Id: `;
    line.socket.write(`${head}a\r\n\r\n${head}b\r\n\r\n${head}c`);
    expect([(await line.answer()).body, (await line.answer()).body].join()).toMatch(/"a".*"b"/);
    line.socket.write('\r\n\r\n');
    expect((await line.answer()).body).toContain('"c"');
    await empty();
    line.send(`GET ${path}`);
    expect((await line.answer()).status).toBe(200);
  });

  it('can be read by pages: those are refused by Node', async () => {
    await refusedEarly();
    for (const origin of [PAGE, 'https://other.example', PAGE]) {
      const { head } = await refused(`Origin: ${origin}\r\n`);
      expect(head).toMatch(/\r\nVary: Origin\r\n/);
      expect(head.includes(`\r\nAccess-Control-Allow-Origin: ${origin}\r\n`)).toBe(origin === PAGE);
    }
    // What browsers ask by themselves is never refused: no page could read it.
    line.send(`OPTIONS ${path}`, `Origin: ${PAGE}\r\nAccess-Control-Request-Method: GET\r\n`);
    expect((await line.answer()).status).toBe(204);
  });

  it('end with CONNECT: what follows reaches nobody else', async () => {
    await refusedEarly();
    line.socket.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await line.answer()).status).toBe(404);
    const other = house.wire();
    await sleep(30);
    line.socket.write('GET /evil HTTP/1.1\r\nX-Ignore: ');
    await sleep(30);
    await empty();
    other.send(`GET ${path}`, 'X-Request-Id: mine\r\n');
    const { status, head } = await other.answer();
    expect([status, /x-request-id: (.*)/i.exec(head)?.[1]]).toEqual([200, 'mine']);
    other.socket.destroy();
  });

  it('leave a connection whose refused body was long as good as any other', async () => {
    for (const length of [1000, 40_000, 150_000]) {
      const own = house.wire();
      own.send(`GET ${path}`, bodyOf(length), 'x'.repeat(length));
      expect((await own.answer()).status).toBe(503);
      for (let n = 0; n < 3; n += 1) {
        own.send(`GET ${path}`);
        expect((await own.answer()).status).toBe(503);
      }
      own.socket.destroy();
    }
  });

  it('leave the service alive when a connection is given up after CONNECT', async () => {
    for (const before of [() => Promise.resolve(), refusedEarly]) {
      await before();
      line.socket.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
      await line.answer();
      line.socket.resetAndDestroy();
      line = house.wire();
    }
    await sleep(50);
    expect((await house.service.anonymous.get('/health/live')).status).toBe(200);
  });

  it('are not given any more when the service stops: Node tells clients that their connections end', async () => {
    const own = await FullHouse.start();
    const stopping = own.wire();
    const letGo = await own.fill();
    const ask = async () => {
      stopping.send(`GET ${own.path}`);
      return stopping.answer();
    };
    for (let n = 0; n < 3; n += 1) await ask();
    expect(isByNode(await ask())).toBe(false);
    own.service.app.get(Stopping).ask();
    const last = await ask();
    expect([isByNode(last), /connection: close/i.test(last.head)]).toEqual([true, true]);
    await letGo();
    await own.stop();
  });

  describe('take no bytes of another request for one', () => {
    let inside: string;

    beforeAll(() => {
      inside = `${house.head()}X-Request-Id: in\r\n\r\n`;
    });

    /** A body that looks like a request, whose own body holds another one and the beginning of a third. */
    function nested(): { head: string; body: string; rest: string } {
      const head = house.head();
      const rest = `${head}\r\n${head}X-Last: `;
      return { head, rest, body: `${head}Content-Length: ${rest.length}\r\n\r\n` };
    }

    async function isReadByNode(bytes: string): Promise<void> {
      line.socket.write(bytes);
      expect((await line.answer()).status).toBe(503);
      expect(isByNode(await refusedLate(inside))).toBe(true);
      await isInStep();
    }

    /** Takes the place of the one who waits, because nobody knows whose it is; refused when its own time is over. */
    async function refusedLate(bytes: string): Promise<RawAnswer> {
      const { refused: before } = house.counts;
      line.socket.write(bytes);
      await until(() => house.counts.refused > before);
      time.pass(WAIT_MS + 1);
      return line.answer();
    }

    /** Whatever came before, the next request is answered, and it alone. */
    async function isInStep(): Promise<void> {
      await empty();
      line.send(`GET ${path}`, 'X-Request-Id: mine\r\n');
      const answer = await line.answer();
      expect([answer.status, /x-request-id: (.*)/i.exec(answer.head)?.[1]]).toEqual([200, 'mine']);
    }

    it.each([
      ['on a connection that was never refused anything', () => Promise.resolve()],
      ['on a connection that is refused early', refusedEarly],
    ])('that is a body which comes after its refusal, %s', async (_, before) => {
      await before();
      line.send(`GET ${path}`, bodyOf(inside.length));
      expect((await line.answer()).status).toBe(503);
      line.socket.write(inside);
      await sleep(30);
      await isInStep();
    });

    it('that is a body in parts', async () => {
      await refusedEarly();
      line.send(`GET ${path}`, bodyOf(2 * inside.length), inside);
      expect((await line.answer()).status).toBe(503);
      line.socket.write(inside);
      await sleep(30);
      await isInStep();
    });

    it('that is a body in which another one begins', async () => {
      const { body, rest } = nested();
      line.send(`GET ${path}`, bodyOf(body.length));
      expect((await line.answer()).status).toBe(503);
      await isReadByNode(body + rest);
    });

    it('that is a body behind another request', async () => {
      const { head, body, rest } = nested();
      line.socket.write(`${head}\r\n${head}Content-Length: ${body.length}\r\n\r\n`);
      for (let n = 0; n < 2; n += 1) expect((await line.answer()).status).toBe(503);
      await isReadByNode(body + rest);
    });

    it('that is the rest of a head', async () => {
      const begun = house.head();
      line.socket.write(`${begun}\r\n${begun}X-Last: `);
      expect((await line.answer()).status).toBe(503);
      const { head, status } = await refusedLate(inside);
      // One request, whose last header holds the first line of the other.
      expect([status, isByNode({ head, status, body: '' })]).toEqual([503, true]);
      await isInStep();
    });
  });
});

describe('refusals from the bytes that are off', () => {
  it('are all by Node', async () => {
    const house = await FullHouse.start({ EARLY_REFUSALS: 'off' });
    const empty = await house.fill();
    const line = house.wire();
    for (let n = 0; n < 5; n += 1) {
      line.send(`GET ${house.path}`);
      const answer = await line.answer();
      expect([answer.status, isByNode(answer)]).toEqual([503, true]);
    }
    await empty();
    line.socket.destroy();
    await house.stop();
  });
});
