import { createServer, type RequestListener } from 'node:http';

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Opens a listener of its own, so that nobody who reaches the API reaches this; gives what closes it. */
export function serveMetrics(text: () => string, port: number, host: string): Promise<() => void> {
  const answer: RequestListener = ({ method, url }, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff').setHeader('Cache-Control', 'no-store');
    if (url?.split('?', 1)[0] !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response
        .writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' })
        .end('Only GET /metrics is here.\n');
      return;
    }
    response.writeHead(200, { 'Content-Type': TYPE }).end(text());
  };
  const server = createServer(answer);
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject).unref();
      resolve(() => {
        server.close().closeAllConnections();
      });
    });
  });
}
