import { aDept, mintToken, type ApiClient } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';
import { connectTo, type RawAnswer } from '../support/wire';

const PATH = '/system/dept-api';
const MOST = 200;

describe('the headers of a request', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(() => {
    api = service.as();
  });

  /** Sends these header lines as they are, and a body. */
  async function send(line: string, headers: readonly string[], body = ''): Promise<RawAnswer> {
    const { socket, answer } = connectTo(api.baseUrl);
    socket.write([`${line} HTTP/1.1`, ...headers, '', body].join('\r\n'));
    const told = await answer();
    socket.destroy();
    return told;
  }

  const reasonOf = ({ body }: RawAnswer) =>
    (JSON.parse(body) as { data: { reason?: string } | null }).data?.reason;
  const authorization = () => `Authorization: Bearer ${mintToken()}`;
  const fillers = (count: number) => Array.from({ length: count }, (_, n) => `X-Filler-${n}: x`);

  describe('when there are too many', () => {
    const body = JSON.stringify({ deptName: 'changed' });
    const needed = () => [
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      authorization(),
    ];
    const STALE = 'If-Match: "999"';

    it('are refused, and a condition behind them is not lost', async () => {
      const deptId = await aDept(api, { deptName: 'as it was' });
      const all = [...needed(), ...fillers(MOST - 4), STALE];
      const answer = await send(`PATCH ${PATH}/${deptId}`, all, body);
      expect([answer.status, reasonOf(answer)]).toEqual([431, 'HEADERS_TOO_LARGE']);
      expect((await api.get(`${PATH}/${deptId}`)).body.data).toMatchObject({ deptName: 'as it was' });
    });

    it('are all seen up to the limit', async () => {
      const deptId = await aDept(api, { deptName: 'as it was' });
      const all = [...needed(), ...fillers(MOST - 5), STALE];
      expect(all).toHaveLength(MOST);
      expect(reasonOf(await send(`PATCH ${PATH}/${deptId}`, all, body))).toBe('STALE');
      expect((await send(`PATCH ${PATH}/${deptId}`, all.slice(0, -1), body)).status).toBe(200);
    });

    it('are refused at every place, also where a token would not help', async () => {
      for (const line of [
        `GET ${PATH}/1`,
        'GET /nowhere',
        'GET /health/live',
        'GET /docs',
        'POST /auth/token',
      ])
        expect((await send(line, ['Host: x', ...fillers(MOST)])).status).toBe(431);
    });
  });

  it('name the host once', async () => {
    for (const second of ['x', 'y']) {
      const answer = await send(`GET ${PATH}/1`, ['Host: x', authorization(), `host: ${second}`]);
      expect([answer.status, reasonOf(answer)]).toEqual([400, 'MALFORMED_REQUEST']);
    }
  });

  it.each(['bearer', 'BEARER', 'bEaReR'])('may write the scheme of the token as %s', async (scheme) => {
    const known = api.with({ authorization: `${scheme} ${mintToken()}` });
    for (const headers of [{}, { 'if-none-match': '"none"' }])
      expect((await known.get(`${PATH}/999999999`, headers)).refusal.reason).toBe('DEPT_NOT_FOUND');
    expect((await known.post(PATH, {})).status).toBe(200);
  });
});
