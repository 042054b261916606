import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, type Request, type RequestHandler, type Response } from 'express';
import { HttpErrors } from '../errors/http.errors';

const JSON_TYPE = 'application/json';
/** A JSON merge patch, or the same under its plain name. */
export const PATCH_TYPES = ['application/merge-patch+json', JSON_TYPE];
/** Deeper than any body of this API; recursive code further in must not meet 100,000 brackets. */
const MAX_NESTING = 32;
/** A department with a tree of 1,000 below it, as it was read, may be sent back. */
const MAX_VALUES = 20_000;

/** Of any type: only bodies whose type has been looked at come here. */
const parserUpTo = (limit: string): RequestHandler =>
  json({ limit, strict: true, type: () => true, verify: refuseBrokenText });
/** By what is known of the caller: everybody may send credentials. */
const PARSERS = { credentials: parserUpTo('16kb'), caller: parserUpTo('256kb') };

/**
 * Reads a JSON body: bounded in size, depth and number of values, of the right type, in valid UTF-8. A body that a host or another parser has
 * read already stays as it is.
 */
export async function readJsonBody(
  request: Request,
  response: Response,
  of: keyof typeof PARSERS,
): Promise<void> {
  if (!hasBody(request) || request.body !== undefined) return;
  if (!isReadable(request)) throw HttpErrors.MEDIA_TYPE();
  await new Promise<void>((resolve, reject) => {
    void PARSERS[of](request, response, (error?: unknown) => {
      if (error instanceof Error) reject(unwrap(error));
      else resolve();
    });
  });
}

function isReadable(request: Request): boolean {
  const type = request.headers['content-type'];
  // As nearly everybody writes it: nothing has to be taken apart.
  if (type === JSON_TYPE) return true;
  return Boolean(request.is(request.method === 'PATCH' ? PATCH_TYPES : [JSON_TYPE])) && isUtf8Type(type);
}

/** JSON is UTF-8; another charset would be decoded, but who sends one means something else. */
export function isUtf8Type(type = ''): boolean {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1];
  return charset === undefined || charset.toLowerCase() === 'utf-8';
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** An empty text is not the empty object that body-parser would make of it. */
function refuseBrokenText(_: IncomingMessage, __: ServerResponse, body: Buffer): void {
  if (body.length === 0 || !isUtf8(body) || isTooComplex(body)) throw HttpErrors.MALFORMED();
}

/** body-parser turns what `verify` throws into a 403 of its own. */
function unwrap(error: Error & { readonly type?: unknown }): Error {
  return error.type === 'entity.verify.failed' ? HttpErrors.MALFORMED() : error;
}

const [COMMA, QUOTE, BACKSLASH] = [0x2c, 0x22, 0x5c];

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
    else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
    if (depth > MAX_NESTING || values > MAX_VALUES) return true;
  }
  return false;
}

/** `[` or `{` */
function isOpening(byte: number | undefined): boolean {
  return byte === 0x5b || byte === 0x7b;
}

/** `]` or `}` */
function isClosing(byte: number | undefined): boolean {
  return byte === 0x5d || byte === 0x7d;
}
