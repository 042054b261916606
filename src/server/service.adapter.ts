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
import { LOOK_FOR_SLOW } from './limit-clients';

const ABSOLUTE = /^https?:\/\/[^/?#]+(?=[/?#]|$)/i;
const NOWHERE = '/*';
/** Linux has no more by default either. */
const BACKLOG = 4096;
/** From this version of Node on, an object whose prototype is changed stays as fast as others. */
const CHEAP_RELINKING = 24;

/**
 * Express on a server that leaves to the application what Node or Express would refuse by themselves, in words
 * outside the envelope: a missing Host header, an expectation, a target that is no path.
 */
export class ServiceAdapter extends ExpressAdapter {
  constructor() {
    // Before anything is routed: Express reads it when it makes its router.
    super(express().enable('case sensitive routing'));
  }

  /** With room for many who connect at once: beyond it the system lets them try again after a second, and after three. */
  override listen(port: string | number, host?: string | (() => void), done?: () => void): Server {
    const server = this.getHttpServer() as Server;
    if (typeof host !== 'string') return server.listen({ port: Number(port), backlog: BACKLOG }, host);
    return server.listen({ port: Number(port), host, backlog: BACKLOG }, done);
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    const listener: RequestListener = (request, response) => {
      request.url = pathOf(request.url ?? '');
      app(request, response);
    };
    const server: Server = createServer(
      { requireHostHeader: false, ...LOOK_FOR_SLOW, ...linkedTo(app) },
      listener,
    );
    // For all who watch requests it is one.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    this.setHttpServer(server);
  }
}

/**
 * Express gives every request and response another prototype, which makes them slow objects: a third of what a small
 * answer costs. Here they are born with the one that Express wants, and its change changes nothing.
 */
function linkedTo({ request, response }: Express): ServerOptions {
  if (Number(process.versions.node.split('.', 1)[0]) >= CHEAP_RELINKING) return {};
  const linked = {
    IncomingMessage: bornAs(IncomingMessage, request),
    ServerResponse: bornAs(ServerResponse, response),
  };
  return linked as unknown as ServerOptions;
}

/**
 * The same class, whose instances have this prototype. A function, because the prototype of a class cannot be chosen; and
 * `apply`, because for `Reflect.construct` the engine would make a new hidden class with every object.
 */
function bornAs(Base: typeof IncomingMessage | typeof ServerResponse, prototype: object): () => void {
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
