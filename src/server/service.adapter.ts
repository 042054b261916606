import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express } from 'express';
import { hasOpenResponse, watchConnections, type Connections } from './connections';

/** What a client may take of the server, in milliseconds. */
const LIMITS = {
  /** All headers must have arrived by then. */
  headersTimeout: 10_000,
  /** The whole request: an import of 16 MB over a slow line. */
  requestTimeout: 60_000,
  /** Longer than load balancers keep an idle connection (60 s as a rule), so that they close it first. */
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1000,
};
/** Nothing moves on the connection: longer than a request may be in work (60 s with an idempotency key). */
const SILENT_MS = 75_000;
/** Linux has no more by default either. Beyond it clients that connect wait a second or three. */
const BACKLOG = 4096;
const SWEEP_MS = 50;
/** After the close has begun: for connections without a request, and for requests in flight. */
const CLOSE_MS = { idle: 500, busy: 5000 };
/** From this version of Node on, an object whose prototype is changed stays as fast as others. */
const CHEAP_RELINKING = 24;
const ABSOLUTE = /^https?:\/\/[^/?#]+(?=[/?#]|$)/i;
const NOWHERE = '/*';

/**
 * Express on a server that leaves to the application what Node or Express would refuse by themselves, outside the envelope: a
 * missing Host header, an expectation, a target that is no path.
 */
export class ServiceAdapter extends ExpressAdapter {
  connections!: Connections;

  constructor(private readonly maxConnections: number) {
    // Before anything is routed: Express reads it when it makes its router.
    super(express().enable('case sensitive routing'));
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    const listener: RequestListener = (request, response) => {
      request.url = pathOf(request.url ?? '');
      app(request, response);
    };
    const server: Server = createServer({ requireHostHeader: false, ...LIMITS, ...linkedTo(app) }, listener);
    server.timeout = SILENT_MS;
    server.maxConnections = this.maxConnections;
    // Node would drop the headers beyond a number in silence, and a condition with them. Its limit of 16 KB holds.
    server.maxHeadersCount = 0;
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    this.connections = watchConnections(server);
    this.setHttpServer(server);
  }

  override listen(port: string | number, host?: string | (() => void), done?: () => void): Server {
    const server = this.getHttpServer() as Server;
    if (typeof host !== 'string') return server.listen({ port: Number(port), backlog: BACKLOG }, host);
    return server.listen({ port: Number(port), host, backlog: BACKLOG }, done);
  }

  /** Node closes idle connections itself, but it waits for those that have sent nothing or half a request. */
  override async close(): Promise<void> {
    const begun = Date.now();
    const sweep = setInterval(() => {
      for (const [socket, response] of this.connections) {
        const limit = hasOpenResponse(response) ? CLOSE_MS.busy : CLOSE_MS.idle;
        if (Date.now() - begun > limit) socket.destroy();
      }
    }, SWEEP_MS);
    await super.close();
    clearInterval(sweep);
  }
}

/**
 * Express gives every request and response another prototype, which makes them slow objects: a third of what a small
 * answer costs. Here they are made with the one that Express wants, and its change changes nothing.
 */
function linkedTo({ request, response }: Express): ServerOptions {
  if (Number(process.versions.node.split('.', 1)[0]) >= CHEAP_RELINKING) return {};
  return {
    IncomingMessage: madeWith(request, IncomingMessage),
    ServerResponse: madeWith(response, ServerResponse),
  } as unknown as ServerOptions;
}

/** A function, because the prototype of a class cannot be chosen; `Reflect.construct` would make a hidden class for each object. */
function madeWith(prototype: object, Base: typeof IncomingMessage | typeof ServerResponse): () => void {
  const initialise = Base as unknown as (...args: unknown[]) => void;
  function Linked(this: object, ...args: unknown[]): void {
    initialise.apply(this, args);
  }
  Linked.prototype = prototype;
  return Linked;
}

/** Proxies send the whole address; anything that is neither that nor a path becomes a path that leads nowhere. */
function pathOf(target: string): string {
  const [path = ''] = target.replace(ABSOLUTE, '').split('#', 1);
  if (path.startsWith('/')) return path;
  return ABSOLUTE.test(target) ? `/${path}` : NOWHERE;
}
