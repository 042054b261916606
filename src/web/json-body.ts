import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, type Request, type RequestHandler, type Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { isUtf8Type, JSON_TYPE, PATCH_TYPES } from './request';

/** Deeper than any body of this API; recursive code further in must not meet 100,000 brackets. */
const MAX_NESTING = 32;
/** A department with a tree of 1,000 below it, as it was read, may be sent back. */
const MAX_VALUES = 20_000;

/** Of any type, because `readJsonBody` has checked it. */
const parserUpTo = (limit: string): RequestHandler =>
  json({ limit, strict: true, type: () => true, verify: refuseBrokenText });
/** Any client may send credentials, so their limit is lower. */
const PARSERS: Readonly<Record<'credentials' | 'caller', RequestHandler>> = {
  credentials: parserUpTo('16kb'),
  caller: parserUpTo('256kb'),
};

/**
 * Reads a JSON body: bounded in size, depth and number of values, of the right type, in valid UTF-8. A body that a host or
 * another parser has read already stays as it is.
 */
export async function readJsonBody(
  request: Request,
  response: Response,
  of: keyof typeof PARSERS,
): Promise<void> {
  if (!hasBody(request) || request.body !== undefined) return;
  const types = request.method === 'PATCH' ? PATCH_TYPES : [JSON_TYPE];
  if (!request.is(types) || !isUtf8Type(request.headers['content-type'])) throw HttpErrors.MEDIA_TYPE();
  await new Promise<void>((resolve, reject) => {
    void PARSERS[of](request, response, (error?: unknown) => {
      if (!(error instanceof Error)) resolve();
      // body-parser turns what `verify` throws into a 403 of its own.
      else reject('type' in error && error.type === 'entity.verify.failed' ? HttpErrors.MALFORMED() : error);
    });
  });
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** An empty text is not the empty object that body-parser would make of it. */
function refuseBrokenText(_: IncomingMessage, __: ServerResponse, body: Buffer): void {
  if (body.length === 0 || !isUtf8(body) || isTooComplex(body)) throw HttpErrors.MALFORMED();
}

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,');
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = Buffer.from('[{]}');

/** Counts in the text: to make 60,000 objects of it, and to walk them, costs ten times as much. */
function isTooComplex(text: Buffer): boolean {
  let depth = 0;
  let values = 0;
  let inQuotes = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) inQuotes = !inQuotes;
    else if (inQuotes) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_NESTING || values > MAX_VALUES) return true;
  }
  return false;
}
