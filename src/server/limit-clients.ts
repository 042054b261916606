import type { Server } from 'node:http';

/** All headers of a request must have come by then, counted from the connection or the answer before. */
const HEADERS_MS = 10_000;
/** The whole request, its body included: an import of 16 MB over a slow line. */
const REQUEST_MS = 60_000;
/** How often it is looked at. */
const LOOK_MS = 1000;
/** Nothing has moved on the connection: longer than a request may be thought about (60 s with an idempotency key). */
const SILENT_MS = 75_000;
/** Longer than load balancers keep a connection for its next request (60 s as a rule): who closes first must not be we. */
const KEPT_MS = 72_000;
/** More than any client of this API sends. */
export const MOST_HEADERS = 200;

/** What a client may take of the server: time to send, time to read, and connections altogether. */
export function limitClients(server: Server, connections: number): void {
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.timeout = SILENT_MS;
  server.keepAliveTimeout = KEPT_MS;
  // Node would leave out the rest without a word, and a condition with it. Its limit of 16 KB holds.
  server.maxHeadersCount = 0;
  server.maxConnections = connections;
}

/** How often Node looks for slow ones; it must be said when the server is made. */
export const LOOK_FOR_SLOW = { connectionsCheckingInterval: LOOK_MS };
