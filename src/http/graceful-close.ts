import type { Server, ServerResponse } from 'node:http';

const SWEEP_MS = 50;

/**
 * Makes `server.close()` end soon and politely: answers that were not begun before it tell the client that the
 * connection ends, and connections that became idle are closed instead of being waited for.
 */
export function closeGracefully(server: Server): void {
  const close = server.close.bind(server);
  const inFlight = new Set<ServerResponse>();
  server.prependListener('request', (_, response: ServerResponse) => {
    if (!server.listening) announceEnd(response);
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
  });
  server.close = (done) => {
    inFlight.forEach(announceEnd);
    const sweep = setInterval(() => {
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
