import type { NextFunction, Request, RequestHandler, Response } from 'express';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** What a page may send beside what browsers always let it. */
const SENT = 'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id';
/** What a page may read of an answer beside what browsers always let it. */
const READ = [
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');
/** How long a browser need not ask again, in seconds. */
const KEPT = '600';

/**
 * Lets pages of these origins call the API. Without credentials: callers show a token, and a browser must never add a cookie by
 * itself. Anybody else is answered as if there were no CORS; the browser keeps the answer from the page.
 */
export function cors(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins);
  return ({ method, headers }: Request, response: Response, next: NextFunction) => {
    // On every answer: a cache must not give one page what was meant for another.
    response.setHeader('Vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined || !allowed.has(origin)) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) {
      response.setHeader('Access-Control-Allow-Methods', METHODS);
      response.setHeader('Access-Control-Allow-Headers', SENT);
      response.setHeader('Access-Control-Max-Age', KEPT);
      response.statusCode = 204;
      response.end();
      return;
    }
    response.setHeader('Access-Control-Expose-Headers', READ);
    next();
  };
}
