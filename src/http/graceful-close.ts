import type { Server, ServerResponse } from 'node:http';

const SWEEP_MS = 50;

/**
 * Makes `server.close()` end soon and politely: answers given after it tell the client that the connection
 * ends, and connections that became idle are closed instead of being waited for.
 */
export function closeGracefully(server: Server): void {
  const close = server.close.bind(server);
  let closing = false;
  server.prependListener('request', (_, response: ServerResponse) => {
    if (closing) response.setHeader('Connection', 'close');
  });
  server.close = (done) => {
    closing = true;
    const sweep = setInterval(() => {
      server.closeIdleConnections();
    }, SWEEP_MS);
    return close((error) => {
      clearInterval(sweep);
      done?.(error);
    });
  };
}
