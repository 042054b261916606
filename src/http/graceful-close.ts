import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const SWEEP_MS = 50;
/** How long a connection on which no request has begun may go on after the close has. */
const SILENT_MS = 500;

/**
 * Makes `server.close()` end soon and politely: answers that were not begun before it tell the client that the
 * connection ends, connections without a request are closed, and what is still in flight after `limitMs` is cut.
 */
export function closeGracefully(server: Server, limitMs: number): void {
  const close = server.close.bind(server);
  const sockets = new Set<Socket>();
  const inFlight = new Map<ServerResponse, Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) announceEnd(response);
    inFlight.set(response, request.socket);
    response.once('close', () => inFlight.delete(response));
  });
  server.close = (done) => {
    for (const response of inFlight.keys()) announceEnd(response);
    const begun = Date.now();
    const sweep = setInterval(() => {
      const elapsed = Date.now() - begun;
      const busy = new Set(elapsed > limitMs ? [] : inFlight.values());
      if (elapsed > SILENT_MS) for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
      server.closeIdleConnections();
    }, SWEEP_MS);
    return close((error) => {
      clearInterval(sweep);
      done?.(error);
    });
  };
}

function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
