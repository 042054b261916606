import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const queued = Symbol('queued');
type Queueing = Socket & { [queued]?: Set<() => void> };

/**
 * Calls this when a response is over, sent or not; maybe more than once. Node says nothing of a response that still stood behind
 * another when its connection closed.
 */
export function onResponseClosed(request: IncomingMessage, response: ServerResponse, done: () => void): void {
  response.once('close', done);
  // It is its turn.
  if (response.socket) return;
  const all = queuedOn(request.socket);
  all.add(done);
  response.once('close', () => all.delete(done));
}

/** Calls this when all of an answer has been given, if not sent; maybe more than once. */
export function onResponseGiven(response: ServerResponse, done: () => void): void {
  response.on('prefinish', done);
  // It is its turn; a method of its own would make it a slow object.
  if (response.socket) return;
  // Node says nothing of the end of a response that stands behind another, until its turn comes; that may be never.
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (...args: unknown[]) => {
    const ended = end(...args);
    done();
    return ended;
  };
}

function queuedOn(socket: Queueing): Set<() => void> {
  const known = socket[queued];
  if (known) return known;
  const all = new Set<() => void>();
  socket[queued] = all;
  socket.once('close', () => {
    for (const done of all) done();
  });
  return all;
}
