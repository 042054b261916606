import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { failure, refusalHeaders } from './envelope';
import type { RefusalFactory } from './error-catalogue';
import { HttpErrors } from './http.errors';
import type { StatusPolicy } from './status-policy';

const BY_CODE: ReadonlyMap<string | undefined, RefusalFactory> = new Map([
  ['HPE_HEADER_OVERFLOW', HttpErrors.HEADERS_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', HttpErrors.TIMEOUT],
]);

/** Answers in the envelope where Node refuses a request by itself, before Express has seen it. */
export function refuseInEnvelope(server: Server, statuses: StatusPolicy): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, headers, body } = answer(BY_CODE.get(error.code) ?? HttpErrors.MALFORMED, statuses);
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.end([`HTTP/1.1 ${status} Refused`, ...lines, '', body].join('\r\n'));
  });
  server.on('checkExpectation', (_, response: ServerResponse) => {
    const { status, headers, body } = answer(HttpErrors.EXPECTATION, statuses);
    response.writeHead(status, headers).end(body);
  });
}

function answer(factory: RefusalFactory, statuses: StatusPolicy) {
  const refusal = factory();
  const requestId = randomUUID();
  const body = JSON.stringify(failure(refusal, requestId, 'zh'));
  return {
    status: statuses.statusFor(refusal.row.status),
    body,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Request-Id': requestId,
      ...refusalHeaders(refusal.row),
    },
  };
}
