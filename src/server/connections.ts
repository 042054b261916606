import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ShutdownState } from './health/health.controller';

/** Open connections, each with its latest response. */
export type Connections = ReadonlyMap<Socket, ServerResponse | null>;

export function hasOpenResponse(response: ServerResponse | null | undefined): response is ServerResponse {
  return response?.writableFinished === false;
}

export function watchConnections(server: Server): Connections {
  const connections = new Map<Socket, ServerResponse | null>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, null);
    // Each of several requests that a client sends at once listens for the end of its connection.
    socket.setMaxListeners(0);
    socket.once('close', () => connections.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (connections.has(socket)) connections.set(socket, response);
  });
  return connections;
}

/**
 * From the moment a stop is requested, every answer tells its client that the connection ends. So clients use up their kept
 * connections while new ones are still taken, and none breaks under a request.
 */
export function announceStop(server: Server, connections: Connections, { signal }: ShutdownState): void {
  const announce = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    if (signal.aborted) announce(response);
  });
  signal.addEventListener('abort', () => {
    for (const response of connections.values()) if (response) announce(response);
  });
}
