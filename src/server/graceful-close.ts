import { setImmediate as turn } from 'node:timers/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { InFlight } from './in-flight';
import type { ShutdownState } from './health/shutdown-state';

const SWEEP_MS = 50;
/** How long a connection on which no request has begun may go on after the close has. */
const SILENT_MS = 500;
/** How long the listener may stay open for connections that keep coming. */
const QUEUE_MS = 500;

/**
 * Makes a stop polite and `server.close()` short. From the moment a stop is asked for, every answer that has not begun
 * tells the client that its connection ends: a client that goes on sending uses its kept connections up while new ones are
 * still taken, and has none left that could break under a request. Then, on close, connections that already wait to be
 * taken are taken, those without a request are closed, and what is still in flight after `limitMs` is cut.
 */
export function closeGracefully(
  server: Server,
  limitMs: number,
  stopping: ShutdownState,
  inFlight: InFlight,
): void {
  const close = server.close.bind(server);
  const sockets = new Set<Socket>();
  let taken = 0;
  server.on('connection', (socket: Socket) => {
    taken += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    if (stopping.isRequested) announceEnd(response);
  });
  stopping.onRequested(() => {
    for (const response of inFlight.keys()) announceEnd(response);
  });
  server.close = (done) => {
    stopping.request();
    void untilNobodyComes(() => taken).then(() => {
      const begun = Date.now();
      const sweep = setInterval(() => {
        const elapsed = Date.now() - begun;
        const busy = new Set(elapsed > limitMs ? [] : inFlight.values());
        if (elapsed > SILENT_MS) for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
        server.closeIdleConnections();
      }, SWEEP_MS);
      close((error) => {
        clearInterval(sweep);
        done?.(error);
      });
    });
    return server;
  };
}

/** The system resets who has connected and was not taken when the listener closes: a turn without a new one shows that nobody waits. */
async function untilNobodyComes(taken: () => number): Promise<void> {
  const giveUp = Date.now() + QUEUE_MS;
  for (let before = -1; before !== taken() && Date.now() < giveUp;) {
    before = taken();
    // Two, because the first one may still belong to a turn that has taken nobody yet.
    await turn();
    await turn();
  }
}

function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
