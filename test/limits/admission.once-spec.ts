import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admission } from '../../src/admission/admission';
import { DeptService } from '../../src/dept/dept.service';
import { aDept, mintToken, type Answer, type ApiClient } from '../../src/testing';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const LIMITS = { MAX_IN_WORK: '1', MAX_WAITING: '1', MAX_WAIT_MS: '400' };
const told = ({ status, body }: Answer) => [status, (body.data as { reason?: string }).reason];
const REFUSED = [503, 'OVERLOADED'];

describe('a service with one place and one who waits', () => {
  let service: ServiceUnderTest;
  let admission: Admission;
  let api: ApiClient;
  let other: ApiClient;
  let path: string;
  // Known to the service once it has been used: an unknown one belongs to nobody yet.
  const token = mintToken();
  let otherPath: string;

  beforeAll(async () => {
    service = await ServiceUnderTest.start(LIMITS);
    admission = service.app.get(Admission);
    api = service.anonymous.as(token);
    other = service.as({ tenantId: await aTenantRow(service.dataSource) });
    path = `${PATH}/${await aDept(api)}`;
    otherPath = `${PATH}/${await aDept(other)}`;
  });
  afterAll(() => service.stop());

  /** Keeps whoever reads a department in work until it is let go. */
  function holding(): { calls: () => number; letGo: () => void } {
    const depts = service.app.get(DeptService);
    const get = depts.get.bind(depts);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const spy = jest.spyOn(depts, 'get').mockImplementation(async (...args) => {
      await held;
      return get(...args);
    });
    return {
      calls: () => spy.mock.calls.length,
      letGo: () => {
        spy.mockRestore();
        letGo();
      },
    };
  }

  async function until(counts: Partial<Admission['counts']>): Promise<void> {
    const giveUp = Date.now() + 5000;
    for (;;) {
      try {
        expect(admission.counts).toMatchObject(counts);
        return;
      } catch (error) {
        if (Date.now() > giveUp) throw error;
        await sleep(5);
      }
    }
  }

  it('refuses what is too much at once, who waits too long after a while, and the probes never', async () => {
    const { letGo } = holding();
    const first = api.get(path);
    await until({ inWork: 1 });
    const second = api.get(path);
    await until({ waiting: 1 });
    const begun = Date.now();
    const third = await api.get(path);
    expect([told(third), third.headers['retry-after']]).toEqual([REFUSED, '1']);
    expect((await service.anonymous.get('/health/live')).status).toBe(200);
    expect((await service.anonymous.get('/health/ready')).status).toBe(200);
    expect(Date.now() - begun).toBeLessThan(350);
    expect(told(await second)).toEqual(REFUSED);
    letGo();
    expect((await first).status).toBe(200);
    expect((await api.get(path)).status).toBe(200);
  });

  it('prefers the tenant that has less', async () => {
    const { letGo } = holding();
    const first = api.get(path);
    await until({ inWork: 1 });
    const second = api.get(path);
    await until({ waiting: 1 });
    const rival = other.get(otherPath);
    expect(told(await second)).toEqual(REFUSED);
    letGo();
    expect([(await rival).status, (await first).status]).toEqual([200, 200]);
  });

  it('does nothing for a client that has left while it waited', async () => {
    const { letGo, calls } = holding();
    const first = api.get(path);
    await until({ inWork: 1 });
    const leaving = wire();
    leaving.send(`GET ${path}`);
    await until({ waiting: 1 });
    leaving.socket.destroy();
    await until({ waiting: 0 });
    expect(calls()).toBe(1);
    letGo();
    expect((await first).status).toBe(200);
    await until({ inWork: 0 });
  });

  it('keeps the place of a client that has left until the work is done', async () => {
    const { letGo } = holding();
    const leaving = wire();
    leaving.send(`GET ${path}`);
    await until({ inWork: 1 });
    leaving.socket.destroy();
    await sleep(50);
    expect(admission.counts.inWork).toBe(1);
    letGo();
    await until({ inWork: 0 });
  });

  it('gives no place to a body that is still on its way', async () => {
    const slow = Array.from({ length: 5 }, () => wire());
    for (const { send } of slow)
      send(`POST ${PATH}`, 'Content-Type: application/json\r\nContent-Length: 9\r\n');
    await sleep(50);
    expect((await api.get(path)).status).toBe(200);
    expect((await api.post(PATH, {})).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });

  describe('refuses from the bytes', () => {
    it('as it does from a request, and serves the same connection when there is room', async () => {
      const line = wire();
      const { letGo } = holding();
      const first = api.get(path);
      await until({ inWork: 1 });
      const second = api.get(path);
      await until({ waiting: 1 });
      const answers: Raw[] = [];
      for (let n = 0; n < 3; n += 1) {
        line.send(`GET ${path}`, `X-Request-Id: mine-${n}\r\n${n === 2 ? 'Accept-Language: en\r\n' : ''}`);
        answers.push(await line.answer());
      }
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
      const [byNode, byBytes, inEnglish] = answers.map(({ body }) => body);
      expect(byBytes).toBe(byNode!.replace('mine-0', 'mine-1'));
      expect(inEnglish).toContain('try again shortly');
      for (const { head } of answers) expect(head).toMatch(/\r\nRetry-After: 1\r\n/);
      expect(answers[1]!.head).toMatch(/\r\nX-Request-Id: mine-1(\r\n|$)/);
      // Date tells who has answered: Node sets it, and nobody else.
      expect(answers.map(({ head }) => /\r\nDate:/i.test(head))).toEqual([true, false, false]);
      line.send('GET /health/live');
      expect((await line.answer()).status).toBe(200);
      letGo();
      await Promise.all([first, second]);
      line.send(`GET ${path}`);
      expect((await line.answer()).status).toBe(200);
      line.socket.destroy();
    });

    it('only what is one whole request: others are read by Node, in order', async () => {
      const line = wire();
      const { letGo } = holding();
      const first = api.get(path);
      await until({ inWork: 1 });
      const second = api.get(path);
      await until({ waiting: 1 });
      line.send(`GET ${path}`);
      expect((await line.answer()).status).toBe(503);
      const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: `;
      line.socket.write(`${head}a\r\n\r\n${head}b\r\n\r\n${head}c`);
      expect([(await line.answer()).body, (await line.answer()).body].join()).toMatch(/"a".*"b"/);
      line.socket.write('\r\n\r\n');
      expect((await line.answer()).body).toContain('"c"');
      letGo();
      await Promise.all([first, second]);
      line.send(`GET ${path}`);
      expect((await line.answer()).status).toBe(200);
      line.socket.destroy();
    });
  });

  interface Raw {
    readonly status: number;
    readonly head: string;
    readonly body: string;
  }

  /** A bare connection of the first tenant. */
  function wire(): {
    socket: Socket;
    send: (line: string, headers?: string, body?: string) => void;
    answer: () => Promise<Raw>;
  } {
    const { hostname, port } = new URL(service.anonymous.baseUrl);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    const take = (): Raw | null => {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return null;
      const head = text.slice(0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      const rest = Buffer.from(text.slice(end + 4));
      if (rest.length < length) return null;
      text = rest.subarray(length).toString();
      return { status: Number(head.slice(9, 12)), head, body: rest.subarray(0, length).toString() };
    };
    return {
      socket,
      send: (line, headers = '', body = '') => {
        socket.write(
          `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n${body}`,
        );
      },
      answer: async () => {
        const giveUp = Date.now() + 5000;
        while (Date.now() < giveUp) {
          const raw = take();
          if (raw) return raw;
          await sleep(2);
        }
        throw new Error(`No answer, but: ${text}`);
      },
    };
  }
});
