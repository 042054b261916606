import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { HttpErrors } from './http.errors';

const LIMIT = '256kb';
const JSON_TYPE = 'application/json';
/** A JSON merge patch, or the same under its plain name. */
export const PATCH_TYPES = ['application/merge-patch+json', JSON_TYPE];
/** Deeper than any body of this API; recursive code further in must not meet 100,000 brackets. */
const MAX_NESTING = 32;

/** An empty text is not the empty object that body-parser would make of it. */
function refuseBrokenText(_: IncomingMessage, __: ServerResponse, body: Buffer): void {
  if (body.length === 0 || !isUtf8(body)) throw HttpErrors.MALFORMED();
}

// Of any type: only bodies whose type has been looked at come here.
const parse = json({ limit: LIMIT, strict: true, type: () => true, verify: refuseBrokenText });

function refuseOtherTypes(request: Request, _: Response, next: NextFunction): void {
  // A route that takes another type has seen to its body before.
  if (request.body !== undefined) {
    next();
    return;
  }
  next(hasBody(request) && !isReadable(request) ? HttpErrors.MEDIA_TYPE() : undefined);
}

function isReadable(request: Request): boolean {
  const type = request.headers['content-type'];
  // As nearly everybody writes it: nothing has to be taken apart.
  if (type === JSON_TYPE) return true;
  return Boolean(request.is(request.method === 'PATCH' ? PATCH_TYPES : [JSON_TYPE])) && isUtf8Type(type);
}

function parseBody(request: Request, response: Response, next: NextFunction): void {
  if (!hasBody(request) || request.body !== undefined) {
    next();
    return;
  }
  parse(request, response, (error?: unknown) => {
    next(error ? unwrap(error) : isTooDeep(request.body) ? HttpErrors.MALFORMED() : undefined);
  });
}

/** Reads JSON bodies: bounded in size and depth, of the right type, in valid UTF-8. */
export const jsonBody: RequestHandler[] = [refuseOtherTypes, parseBody];

/** JSON is UTF-8; another charset would be decoded, but who sends one means something else. */
export function isUtf8Type(type = ''): boolean {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1];
  return charset === undefined || charset.toLowerCase() === 'utf-8';
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** body-parser turns what `verify` throws into a 403 of its own. */
function unwrap(error: unknown): unknown {
  return (error as { type?: unknown }).type === 'entity.verify.failed' ? HttpErrors.MALFORMED() : error;
}

function isTooDeep(body: unknown): boolean {
  let level = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) return true;
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}
