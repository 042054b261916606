import { createSecretKey } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express, type Request } from 'express';
import { verify } from 'jsonwebtoken';

const { JWT_SECRET = '', HOST, PORT, PRELINKED } = process.env;
const key = createSecretKey(JWT_SECRET, 'utf8');
const checks = { algorithms: ['HS256' as const], issuer: 'tenantry', audience: 'tenantry' };

export interface Claims {
  readonly tenantId: string;
  readonly username: string;
}

/** Express with everything off that a bare handler does not need. */
export function bareExpress(): Express {
  return express().disable('x-powered-by').disable('etag');
}

/** Checks the token of a request; throws when it is not good. */
export function claimsOf({ headers: { authorization = '' } }: Request): Claims {
  return verify(authorization.slice('Bearer '.length), key, checks) as unknown as Claims;
}

export function serve(app: Express): void {
  app.get('/health/ready', (_, response) => {
    response.end();
  });
  (PRELINKED === '1' ? linkedServer(app) : createServer(app)).listen(Number(PORT), HOST);
}

/**
 * Express gives each request and response its own prototype, which makes them slow objects; where they are born with it,
 * that changes nothing.
 */
function linkedServer(app: Express): Server {
  function Request(this: IncomingMessage, socket: Socket): void {
    IncomingMessage.call(this, socket);
  }
  function Response(this: ServerResponse, request: IncomingMessage): void {
    ServerResponse.call(this, request);
  }
  Request.prototype = app.request;
  Response.prototype = app.response;
  return createServer(
    {
      IncomingMessage: Request as unknown as typeof IncomingMessage,
      ServerResponse: Response as unknown as typeof ServerResponse,
    },
    app,
  );
}
