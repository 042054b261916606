import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

/** Opens a listener of its own, so that clients of the API cannot reach it; gives what closes it. */
export async function serveMetrics(registry: Registry, port: number, host: string): Promise<() => void> {
  const answer = async ({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('X-Content-Type-Options', 'nosniff').setHeader('Cache-Control', 'no-store');
    if (url?.split('?', 1)[0] !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end('Only GET /metrics is here.\n');
      return;
    }
    const text = await registry.metrics();
    response.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
  };
  const server = createServer((request, response) => void answer(request, response)).listen(port, host);
  await once(server, 'listening');
  server.unref();
  return () => {
    server.close().closeAllConnections();
  };
}
