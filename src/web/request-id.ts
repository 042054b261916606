import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const SAFE = /^[A-Za-z0-9._-]{1,64}$/;
const requestId = Symbol('requestId');

/** Gives every request an id (the caller's own, if it is harmless) and echoes it. */
export function requestIdMiddleware(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('X-Request-Id', requestIdOf(request));
  next();
}

/** The id of a request; in a host without the middleware it is given at the first question. */
export function requestIdOf(request: Request & { [requestId]?: string }): string {
  const id = request[requestId] ?? safeId(request.headers['x-request-id']);
  request[requestId] = id;
  return id;
}

function safeId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && SAFE.test(sent) ? sent : randomUUID();
}
