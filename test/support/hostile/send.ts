import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { HostileRequest } from './requests';

export interface HostileAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Told {
  /** More than one only where requests were sent at once; none when the connection was closed without a word. */
  readonly answers: readonly HostileAnswer[];
  readonly ms: number;
}

/** Only bounds a hang. */
const GIVE_UP_MS = 60_000;
/** How long a request that never ends is held open. */
const CUT_MS = 100;

export async function sendHostile(url: URL, request: HostileRequest, agent: Agent): Promise<Told> {
  const began = performance.now();
  if (request.raw) return sendRaw(url, request.raw, request.isCut);
  return { answers: [await sendPlain(url, request, agent)], ms: performance.now() - began };
}

function sendPlain(
  url: URL,
  { method, target, headers, body }: HostileRequest,
  agent: Agent,
): Promise<HostileAnswer> {
  const { hostname, port } = url;
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path: target, headers, agent, timeout: GIVE_UP_MS },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)));
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}

function sendRaw({ hostname, port }: URL, bytes: Buffer, isCut: boolean): Promise<Told> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const began = performance.now();
    // Until the last byte: a connection that is kept alive is closed later.
    let ms = 0;
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(isCut ? CUT_MS : GIVE_UP_MS, () => {
      socket.destroy(isCut ? undefined : new Error('the connection was left open without an answer'));
    });
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      ms = performance.now() - began;
    });
    // A server that has answered may well close while bytes are still on their way.
    socket.on('error', (error) => {
      if (chunks.length === 0) reject(error);
    });
    socket.on('close', () => {
      try {
        resolve({ answers: answersIn(Buffer.concat(chunks)), ms });
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

/** The answers in what a socket has received. All of the service's own say how long they are. */
function answersIn(bytes: Buffer): HostileAnswer[] {
  const answers: HostileAnswer[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`no HTTP: ${rest.toString('latin1').slice(0, 200)}`);
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    ) as IncomingHttpHeaders;
    const until = end + 4 + Number(headers['content-length'] ?? 0);
    // "100 Continue" comes before the answer itself.
    if (status !== 100) answers.push({ status, headers, text: rest.subarray(end + 4, until).toString() });
    rest = rest.subarray(until);
  }
  return answers;
}
