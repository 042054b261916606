import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onResponseClosed } from './overload/on-response-closed';

/** Answers that are not over, in the order in which they are due, with their connections. */
export type InFlight = ReadonlyMap<ServerResponse, Socket>;

/** To be called before anything else listens. */
export function watchInFlight(server: Server): InFlight {
  const inFlight = new Map<ServerResponse, Socket>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    inFlight.set(response, request.socket);
    onResponseClosed(request, response, () => inFlight.delete(response));
  });
  return inFlight;
}
