import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

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
export class Cors {
  readonly #allowed: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#allowed = new Set(origins);
  }

  /** To be called for every request before anything answers it: a page must be able to read a refusal too. */
  mark({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
    // On every answer: a cache must not give one page what was meant for another.
    response.setHeader('Vary', 'Origin');
    if (!this.#allows(origin)) return;
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', READ);
  }

  /** Whether it is what a browser asks before it lets a page of these origins send something. */
  isPreflight({ method, headers }: IncomingMessage): boolean {
    const isAsked = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    return isAsked && this.#allows(headers.origin);
  }

  readonly answerPreflight = (request: Request, response: Response, next: NextFunction): void => {
    if (!this.isPreflight(request)) {
      next();
      return;
    }
    response.removeHeader('Access-Control-Expose-Headers');
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', SENT);
    response.setHeader('Access-Control-Max-Age', KEPT);
    response.statusCode = 204;
    response.end();
  };

  #allows(origin: string | undefined): origin is string {
    return origin !== undefined && this.#allowed.has(origin);
  }
}
