import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';

const ABSOLUTE = /^https?:\/\/[^/?#]+(?=[/?#]|$)/i;

/**
 * Express on a server that leaves to the application what Node or Express would refuse by themselves, in words
 * outside the envelope: a missing Host header, an expectation, a target that is no path.
 */
export class ServiceAdapter extends ExpressAdapter {
  constructor() {
    // Before anything is routed: Express reads it when it makes its router.
    super(express().enable('case sensitive routing'));
  }

  override initHttpServer(): void {
    const app = this.getInstance<RequestListener>();
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      request.url = pathOf(request.url ?? '');
      app(request, response);
    };
    const server: Server = createServer({ requireHostHeader: false }, listener);
    server.on('checkExpectation', listener);
    this.setHttpServer(server);
  }
}

/** Proxies send the whole address; anything that is neither that nor a path becomes a path that leads nowhere. */
function pathOf(target: string): string {
  const [path = ''] = target.replace(ABSOLUTE, '').split('#', 1);
  if (path.startsWith('/')) return path;
  return '/';
}
