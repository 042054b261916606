import { createServer } from 'node:net';

/** Ports for each Jest worker, and for the process that starts them: nobody takes a port that another is about to use. */
const PORTS = 3000;
const firstPort = 20_000 + PORTS * (Number(process.env.JEST_WORKER_ID ?? 0) % 4);
const given = new Set<number>();

/** A free port below 32768: above it, sockets of clients come and go. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * PORTS);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

export function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}
