import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failure } from './envelope';
import type { Refusal, RefusalFactory } from './error-catalogue';
import { HttpErrors } from './http.errors';
import type { Outcome } from './outcome';
import { SECURITY_LINES } from './security-headers';
import type { StatusPolicy } from './status-policy';

const BY_CODE: ReadonlyMap<string | undefined, RefusalFactory> = new Map([
  ['HPE_HEADER_OVERFLOW', HttpErrors.HEADERS_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', HttpErrors.TIMEOUT],
]);

const HEAD = 'HEAD ';

/** Answers in the envelope where bytes never became a request, and tells of it. */
export function refuseInEnvelope(
  server: Server,
  statuses: StatusPolicy,
  tell: (requestId: string, outcome: Outcome) => void,
): void {
  const refuse = (socket: Duplex, factory: RefusalFactory, bytes?: Buffer): void => {
    const refusal = factory();
    const requestId = randomUUID();
    const { head, body } = answer(refusal, requestId, statuses);
    socket.end(asksForHead(bytes) ? head : head + body);
    tell(requestId, refusal.row);
  };
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, BY_CODE.get(error.code) ?? HttpErrors.MALFORMED, error.rawPacket);
  });
  // Without a listener Node closes the connection and says nothing.
  server.on('connect', (_, socket) => {
    refuse(socket, HttpErrors.NO_ROUTE);
  });
}

/** As far as it can be told: the bytes at hand are those that could not be read, mostly with the request's beginning. */
function asksForHead(bytes: Buffer | undefined): boolean {
  return bytes?.toString('latin1', 0, HEAD.length) === HEAD;
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
