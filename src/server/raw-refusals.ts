import { randomUUID } from 'node:crypto';
import { maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Request, Response } from 'express';
import { failure, type StatusPolicy } from '../web/envelope';
import type { Refusal, RefusalFactory } from '../errors/refusal';
import { HttpErrors } from '../errors/http.errors';
import type { InFlight } from './in-flight';
import { noteRefusal, type Outcome, requestIdOf } from '../web/request';
import { SECURITY_LINES } from './security-headers';
import { onResponseClosed } from './overload/on-response-closed';

const BY_CODE: ReadonlyMap<string | undefined, RefusalFactory> = new Map([
  ['HPE_HEADER_OVERFLOW', HttpErrors.HEADERS_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', HttpErrors.TIMEOUT],
]);

/** The connection has ended in the middle of a request. */
const BROKEN_OFF = 'HPE_INVALID_EOF_STATE';
const HEAD = 'HEAD ';
/** How long a client may take to read its refusal. */
const LINGER_MS = 2000;

/** What Node tells of bytes that it could not read. */
type UnreadError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/**
 * Answers in the envelope where bytes never became a request, or its body cannot be read, and tells of it. A request has a line
 * of its own in the log.
 */
export function refuseInEnvelope(
  server: Server,
  statuses: StatusPolicy,
  inFlight: InFlight,
  tell: (requestId: string, outcome: Outcome) => void,
): void {
  const refused = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, factory: RefusalFactory, error?: UnreadError): void => {
    if (refused.has(socket)) return;
    refused.add(socket);
    // After CONNECT nobody else hears of a reset, and an error that nobody hears ends the process.
    socket.on('error', () => undefined);
    // Nobody may read what it still sends.
    socket.removeAllListeners('data').resume();
    afterEarlierAnswers(socket, inFlight, (own) => {
      const refusal = factory();
      const requestId = own ? requestIdOf(own.req as Request) : randomUUID();
      const { head, body } = answer(refusal, requestId, statuses);
      socket.write(asksForHead(error?.rawPacket) ? head : head + body);
      if (!own) tell(requestId, refusal.row);
      else if (error?.code !== BROKEN_OFF) noteRefusal(own as Response, refusal.row);
    });
  };
  server.on('clientError', (error: UnreadError, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, BY_CODE.get(error.code) ?? HttpErrors.MALFORMED, error);
  });
  // Without a listener Node closes the connection and says nothing.
  server.on('connect', (_, socket) => {
    refuse(socket, HttpErrors.NO_ROUTE);
  });
}

/**
 * What came before on this connection is answered first, or the refusal would be taken for its answer. To a request whose
 * own body could not be read it is the answer, unless that has one already. Then the connection ends.
 */
function afterEarlierAnswers(
  socket: Duplex,
  inFlight: InFlight,
  refuse: (own: ServerResponse | undefined) => void,
): void {
  const open = [...inFlight].filter(([, its]) => its === socket).map(([response]) => response);
  const own = open.find(({ req }) => !req.complete);
  const end = (): void => {
    if (!socket.writable) return;
    if (!own?.headersSent) refuse(own);
    socket.end();
    // Nothing else ends the connection of a client that does not hang up.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  const before = open.filter((response) => response !== own).at(-1);
  if (before) onResponseClosed(before.req, before, end);
  else end();
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
