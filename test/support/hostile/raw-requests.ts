import type { Chance } from '../chance';
import type { HostileCaller } from './world';

const PATH = '/system/dept-api';

/** What stands in a raw request beside its oddity. */
interface Parts {
  /** Host, token and `Connection: close`. */
  readonly head: string;
  readonly id: string;
}

const json = (body: string) =>
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = (head: string, chunks: string) =>
  `POST ${PATH} HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;

/** Bytes on a socket; each is a whole request, or one that cannot be read on. */
const RAW: readonly ((parts: Parts) => string)[] = [
  () => 'NONSENSE\r\n\r\n',
  () => '\0\0\0\0\r\n\r\n',
  () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  () => 'GET /\r\n\r\n',
  ({ head }) => `get ${PATH}/1 HTTP/1.1\r\n${head}\r\n`,
  ({ head, id }) => `GET ${PATH}/${id} HTTP/1.0\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/9.9\r\n${head}\r\n`,
  ({ head, id }) => `GET http://x.example${PATH}/${id}?x HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET * HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `OPTIONS * HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/1#x HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/\xff\xfe HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/a b HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/${'1,'.repeat(10_000)}1 HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `CONNECT x:443 HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}X : y\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}X: a\r\n b\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}X: a\0b\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}X: a\rb\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\n${head.replaceAll('\r', '')}\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}Host: y\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
  ({ head }) =>
    `GET ${PATH}/1 HTTP/1.1\r\n${head.replace('close', 'close, upgrade')}Upgrade: websocket\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}${'a: b\r\n'.repeat(2500)}\r\n`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Content-Length: 2\r\n${json('{}')}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Content-Length: 3\r\n${json('{}')}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n${json('{}')}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n{}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Content-Length: 1e1\r\n\r\n{}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Content-Length: 99999999999999999999\r\n\r\n{}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Expect: 100-continue\r\n${json('{"deptName":"x"}')}`,
  ({ head }) => `POST ${PATH} HTTP/1.1\r\n${head}Content-Type: text/csv\r\n${json('{}')}`,
  ({ head }) => chunked(head, '2\r\n{}\r\n0\r\n\r\n'),
  ({ head }) => chunked(head, '2;x="y"\r\n{}\r\n0\r\nTrailer: x\r\n\r\n'),
  ({ head }) => chunked(head, '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n'),
  ({ head }) => chunked(head, '0\r\n\r\n'),
  ({ head }) => chunked(head, 'zz\r\n{}\r\n0\r\n\r\n'),
  ({ head }) => chunked(head, '-2\r\n{}\r\n0\r\n\r\n'),
  ({ head }) => chunked(head, '2\r\n{}xx\r\n0\r\n\r\n'),
  ({ head }) => chunked(head, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  ({ head }) => chunked(head, '2\r\n{}\r\n0\r\n\r\n').replace('chunked', 'gzip, chunked'),
  ({ head }) => chunked(head, '2\r\n{}\r\n0\r\n\r\n').replace('chunked', 'chunked, identity'),
  ({ head, id }) =>
    `GET ${PATH}/${id} HTTP/1.1\r\n${head.replace('close', 'keep-alive')}\r\nGET ${PATH}/x HTTP/1.1\r\n${head}\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}Authorization: Bearer x\r\n\r\n`,
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head.replace(/Host:.*\r\n/, '')}\r\n`,
];

/** Requests that never come to their end: nobody is owed an answer. */
const CUT: typeof RAW = [
  () => '\r\n\r\n\r\n',
  ({ head }) =>
    `POST ${PATH} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{}`,
  ({ head }) => chunked(head, 'ffffffffffffffff\r\n{}\r\n'),
  ({ head }) => chunked(head, '2\r\n{}\r\n'),
  ({ head }) => `GET ${PATH}/1 HTTP/1.1\r\n${head}`,
];

/** A request that no HTTP client would send. */
export function rawRequest(
  authorization: string | string[] | null,
  caller: HostileCaller,
  chance: Chance,
): { readonly raw: Buffer; readonly isCut: boolean } {
  const tokens = [authorization ?? []].flat().map((each) => `Authorization: ${each}\r\n`);
  const head = `Host: x\r\nConnection: close\r\n${tokens.join('')}`;
  const isCut = chance.hit(0.1);
  const text = chance.pick(isCut ? CUT : RAW)({ head, id: String(caller.idFor('deptId', chance)) });
  return { raw: Buffer.from(text, 'latin1'), isCut };
}
