import { randomUUID } from 'node:crypto';
import { maxHeaderSize, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failure } from './envelope';
import type { Refusal, RefusalFactory } from './error-catalogue';
import { HttpErrors } from './http.errors';
import type { InFlight } from './in-flight';
import type { Outcome } from './outcome';
import { SECURITY_LINES } from './security-headers';
import type { StatusPolicy } from './status-policy';

const BY_CODE: ReadonlyMap<string | undefined, RefusalFactory> = new Map([
  ['HPE_HEADER_OVERFLOW', HttpErrors.HEADERS_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', HttpErrors.TIMEOUT],
]);

const HEAD = 'HEAD ';
/** How long a client may take to read its refusal. */
const LINGER_MS = 2000;

/** What Node tells of bytes that it could not read. */
type UnreadError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Answers in the envelope where bytes never became a request, and tells of it. */
export function refuseInEnvelope(
  server: Server,
  statuses: StatusPolicy,
  inFlight: InFlight,
  tell: (requestId: string, outcome: Outcome) => void,
): void {
  const refuse = (socket: Duplex, factory: RefusalFactory, hasBody = true): void => {
    // After CONNECT nobody else hears of a reset, and an error that nobody hears ends the process.
    socket.on('error', () => undefined);
    if (isAnswered(socket, inFlight)) {
      socket.destroy();
      return;
    }
    const refusal = factory();
    const requestId = randomUUID();
    const { head, body } = answer(refusal, requestId, statuses);
    socket.end(hasBody ? head + body : head);
    // Nothing else ends the connection of a client that does not hang up, and nobody may read what it still sends.
    socket.removeAllListeners('data').resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    tell(requestId, refusal.row);
  };
  server.on('clientError', (error: UnreadError, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, BY_CODE.get(error.code) ?? HttpErrors.MALFORMED, !asksForHead(error.rawPacket));
  });
  // Without a listener Node closes the connection and says nothing.
  server.on('connect', (_, socket) => {
    refuse(socket, HttpErrors.NO_ROUTE);
  });
}

/** Whether an answer has begun on this connection: a refusal in its midst would be taken for a part of it. */
function isAnswered(socket: Duplex, inFlight: InFlight): boolean {
  return [...inFlight].some(([response, its]) => its === socket && response.headersSent);
}

/** As far as it can be told: whether what could not be read is a HEAD. One whose end is in sight has been read. */
function asksForHead(bytes: Buffer | undefined): boolean {
  if (bytes?.toString('latin1', 0, HEAD.length) !== HEAD) return false;
  const end = bytes.indexOf('\r\n\r\n');
  return end < 0 || end > maxHeaderSize;
}

function answer(refusal: Refusal, requestId: string, statuses: StatusPolicy): { head: string; body: string } {
  const body = JSON.stringify(failure(refusal, requestId, 'zh'));
  const head = [
    `HTTP/1.1 ${statuses.statusFor(refusal.row.status)} Refused`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...SECURITY_LINES,
    'Connection: close',
    '',
    '',
  ].join('\r\n');
  return { head, body };
}
