import { IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import type { RefusalFactory } from '../errors/refusal';
import { failure, type StatusPolicy } from '../web/envelope';
import { noteRefusal, requestIdMiddleware, requestIdOf, type Outcome } from '../web/request';
import { securityHeaders } from './security-headers';
import { isOpen, type Connections } from './service.adapter';

const BY_CODE: ReadonlyMap<string | undefined, RefusalFactory> = new Map([
  ['HPE_HEADER_OVERFLOW', HttpErrors.HEADERS_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', HttpErrors.TIMEOUT],
]);
/** The client has left in the middle of a request. */
const GONE: readonly (string | undefined)[] = ['ECONNRESET', 'HPE_INVALID_EOF_STATE'];
/** How long a client may take to read its refusal. */
const LINGER_MS = 2000;
/** More than any client of this API sends. */
const MAX_HEADERS = 200;

/** Answers in the envelope where bytes never became a request, or where the body of a request cannot be read. */
export function refuseInEnvelope(
  server: Server,
  statuses: StatusPolicy,
  connections: Connections,
  tell: (requestId: string, outcome: Outcome) => void,
): void {
  const refused = new WeakSet<Socket>();
  const refuse = (socket: Socket, factory: RefusalFactory, method?: string): void => {
    // Node tells of every further piece of what it cannot read.
    if (refused.has(socket)) return;
    refused.add(socket);
    // After CONNECT no one else listens, and an error that no one hears ends the process.
    socket.on('error', () => undefined).resume();
    const end = (): void => {
      socket.end();
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
    const latest = connections.get(socket);
    const isOwn = isOpen(latest);
    if (isOwn && (latest.req.complete || latest.headersSent)) {
      // It stands behind a good request, whose answer comes first.
      if (!latest.headersSent) latest.setHeader('Connection', 'close');
      latest.once('finish', end);
      return;
    }
    const refusal = factory();
    const response = isOwn ? latest : responseOn(socket, method);
    const requestId = requestIdOf(response.req as Request);
    if (isOwn) noteRefusal(latest as Response, refusal.row);
    else tell(requestId, refusal.row);
    response.statusCode = statuses.statusFor(refusal.row.status);
    const body = Buffer.from(JSON.stringify(failure(refusal, requestId, 'zh')));
    response.setHeader('Content-Type', 'application/json; charset=utf-8').setHeader('Connection', 'close');
    response.setHeader('Content-Length', body.length).end(body, end);
  };
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    if (GONE.includes(error.code) || !socket.writable) socket.destroy();
    else refuse(socket, BY_CODE.get(error.code) ?? HttpErrors.MALFORMED, methodIn(error.rawPacket));
  });
  // Without a listener Node closes the connection and says nothing.
  server.on('connect', (_, socket) => {
    refuse(socket as Socket, HttpErrors.NO_ROUTE);
  });
}

/** A client that asks for the head alone takes a body for the next answer. */
function methodIn(packet: Buffer | undefined): string | undefined {
  return packet?.toString('latin1', 0, 5) === 'HEAD ' ? 'HEAD' : undefined;
}

/** For a client of which no request was read; its method may be known all the same. */
function responseOn(socket: Socket, method = 'GET'): ServerResponse {
  const request = Object.assign(new IncomingMessage(socket), { method }) as Request;
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  requestIdMiddleware(request, response as Response, () => undefined);
  securityHeaders(request, response as Response, () => undefined);
  return response;
}

/** Refuses what is readable HTTP but asks for something that this service cannot give. */
export function refuseOddRequests(
  { method, headers, headersDistinct, rawHeaders, httpVersion, url }: Request,
  _: Response,
  next: NextFunction,
): void {
  const { expect = '100-continue' } = headers;
  // Names and values take turns in it.
  if (rawHeaders.length > 2 * MAX_HEADERS) next(HttpErrors.HEADERS_TOO_LARGE());
  // Node takes the first of two; a proxy in front of it may have taken the other.
  else if (headersDistinct.host?.length !== 1 && (httpVersion === '1.1' || headers.host !== undefined))
    next(HttpErrors.MALFORMED());
  else if (expect.toLowerCase() !== '100-continue') next(HttpErrors.EXPECTATION());
  // Node would read what is no UTF-8 as some other text.
  else if (!isDecodable(url)) next(HttpErrors.MALFORMED());
  // Express would answer OPTIONS by itself, in plain text; a CORS preflight has its answer already.
  else if (method === 'OPTIONS') next(HttpErrors.NO_ROUTE());
  else next();
}

function isDecodable(url: string): boolean {
  try {
    return decodeURIComponent(url) !== '';
  } catch {
    return false;
  }
}
