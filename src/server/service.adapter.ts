import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express } from 'express';

/** Open connections, each with its latest response. */
export type Connections = Map<Socket, ServerResponse | null>;

/** What a client may take of the server, in milliseconds. */
const LIMITS = {
  headersTimeout: 10_000,
  /** An import of 16 MB over a slow line. */
  requestTimeout: 60_000,
  /** Longer than load balancers keep an idle connection (60 s as a rule), so that they close it first. */
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1000,
};
/** Nothing moves on the connection: longer than a request may be in work (60 s with an idempotency key). */
const SILENT_MS = 75_000;
/** For how long a client may take nothing of what is sent to it, and how often that is looked at. */
const STALLED_MS = { most: 30_000, sweep: 1000 };
/** Beyond it clients that connect at once wait a second or three. Linux has no more by default. */
const BACKLOG = 4096;
/** How long a close accepts clients that keep coming, then waits for connections without a request, and for requests in work. */
const CLOSE_MS = { accept: 500, idle: 500, busy: 5000, sweep: 50 };
const ABSOLUTE = /^https?:\/\/[^/?#]+(?=[/?#]|$)/i;
const NOWHERE = '/*';

/**
 * Express on a server that leaves to the application what Node or Express would refuse by themselves, outside the envelope: a
 * missing Host header, an expectation, a target that is no path.
 */
export class ServiceAdapter extends ExpressAdapter {
  readonly connections: Connections = new Map();
  readonly #stalled = new WeakMap<Socket, { readonly sent: string; readonly since: number }>();
  #isStopping = false;
  #accepted = 0;

  constructor(private readonly maxConnections: number) {
    // Before anything is routed: Express reads it when it makes its router.
    super(express().enable('case sensitive routing'));
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    const listener: RequestListener = (request, response) => {
      const before = this.connections.get(request.socket);
      // Its connection ends with that answer: nobody would hear what became of this one.
      if (this.#isStopping && before?.headersSent && before.getHeader('Connection') === 'close') return;
      if (this.connections.has(request.socket)) this.connections.set(request.socket, response);
      if (this.#isStopping) {
        // Node ends the connection with the first answer that says so: of several requests at once it must be the last.
        if (before?.headersSent === false) before.removeHeader('Connection');
        response.setHeader('Connection', 'close');
      }
      request.url = pathOf(request.url ?? '');
      app(request, response);
    };
    const server: Server = createServer({ requireHostHeader: false, ...LIMITS, ...linkedTo(app) }, listener);
    server.timeout = SILENT_MS;
    server.maxConnections = this.maxConnections;
    // Node would drop headers beyond a number in silence, and a condition with them. Its limit of 16 KB holds.
    server.maxHeadersCount = 0;
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('connection', (socket: Socket) => {
      this.#accepted += 1;
      this.connections.set(socket, null);
      socket.once('close', () => this.connections.delete(socket));
      // Each of several requests that a client sends at once listens for the end of its connection.
      socket.setMaxListeners(0);
    });
    const sweep = setInterval(() => {
      for (const socket of this.connections.keys()) if (this.#isStalled(socket)) socket.destroy();
    }, STALLED_MS.sweep).unref();
    server.once('close', () => {
      clearInterval(sweep);
    });
    this.setHttpServer(server);
  }

  /** Whether its client has taken nothing for too long, although something is there for it: what an answer holds is held for it. */
  #isStalled(socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }): boolean {
    const { bytesWritten, writableLength, _handle: handle } = socket;
    if (writableLength === 0) return false;
    // Node's own timeout asks the handle too: a large answer is one write, which the system takes piece by piece.
    const sent = [bytesWritten, writableLength, handle?.writeQueueSize].join();
    const before = this.#stalled.get(socket);
    if (before?.sent === sent) return performance.now() - before.since >= STALLED_MS.most;
    this.#stalled.set(socket, { sent, since: performance.now() });
    return false;
  }

  override listen(port: string | number, host?: string | (() => void), done?: () => void): Server {
    const server = this.getHttpServer() as Server;
    if (typeof host !== 'string') return server.listen({ port: Number(port), backlog: BACKLOG }, host);
    return server.listen({ port: Number(port), host, backlog: BACKLOG }, done);
  }

  /** From now on every answer ends its connection: clients use up their kept connections while new ones are still taken. */
  announceStop(): void {
    this.#isStopping = true;
    for (const response of this.connections.values())
      if (response?.headersSent === false) response.setHeader('Connection', 'close');
  }

  /** Node closes idle connections itself, but it waits for those that have sent nothing or half a request. */
  override async close(): Promise<void> {
    await this.#acceptWaiting();
    const begun = Date.now();
    const sweep = setInterval(() => {
      for (const [socket, response] of this.connections)
        if (Date.now() - begun > CLOSE_MS[isOpen(response) ? 'busy' : 'idle']) socket.destroy();
    }, CLOSE_MS.sweep);
    await super.close();
    clearInterval(sweep);
  }

  /** The system resets clients that wait to be accepted when the listener closes. None waits when two turns bring no new one. */
  async #acceptWaiting(): Promise<void> {
    const giveUp = Date.now() + CLOSE_MS.accept;
    for (let before = -1; before !== this.#accepted && Date.now() < giveUp;) {
      before = this.#accepted;
      await turn();
      await turn();
    }
  }
}

export function isOpen(response: ServerResponse | null | undefined): response is ServerResponse {
  return response?.writableFinished === false;
}

/**
 * Express changes the prototype of every request and response, which makes them slow objects before Node 24: a small answer costs
 * twice the CPU. Here they are made with the prototype that Express wants.
 */
function linkedTo({ request, response }: Express): ServerOptions {
  if (Number.parseInt(process.versions.node) >= 24) return {};
  return {
    IncomingMessage: madeWith(request, IncomingMessage),
    ServerResponse: madeWith(response, ServerResponse),
  } as unknown as ServerOptions;
}

/** A function, because the prototype of a class cannot be chosen; `Reflect.construct` would be as slow as Express. */
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
