import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, type Request, type RequestHandler, type Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { type Refusal, type Bilingual } from '../errors/refusal';
import { isUtf8Type, JSON_TYPE, PATCH_TYPES, wrongType } from './request';
import { jsonLength, placeIn, utf8Length } from './text-position';

/** Deeper than any body of this API; recursive code further in must not meet 100,000 brackets. */
const MAX_NESTING = 32;
/** A department with a tree of 1,000 below it, as it was read, may be sent back. */
const MAX_VALUES = 20_000;
const EMPTY = { zh: '不能为空', en: 'must not be empty' };
const TOO_COMPLEX = {
  zh: `最多 ${MAX_NESTING} 层、${MAX_VALUES} 个值`,
  en: `must have at most ${MAX_NESTING} levels and ${MAX_VALUES} values`,
};

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
  if (!request.is(types) || !isUtf8Type(request.headers['content-type'])) throw wrongType(types);
  await new Promise<void>((resolve, reject) => {
    void PARSERS[of](request, response, (error?: unknown) => {
      if (!(error instanceof Error)) resolve();
      else reject(bodyError(error));
    });
  });
}

const NO_ENCODING = {
  field: 'Content-Encoding',
  message: { zh: '只能为 gzip、deflate、br 或 identity', en: 'must be gzip, deflate, br or identity' },
};

/** What an error of body-parser means, where it can be told better than by its status. */
function bodyError(error: Error & { type?: unknown; body?: unknown }): Error {
  // Made from what `verify` throws: an error with its fields and a status of 403.
  const { details } = error as Partial<Refusal>;
  if (error.type === 'entity.verify.failed') return HttpErrors.MALFORMED(details);
  if (error.type === 'encoding.unsupported') return HttpErrors.MEDIA_TYPE({ fields: [NO_ENCODING] });
  if (error.type !== 'entity.parse.failed' || typeof error.body !== 'string') return error;
  const { zh, en } = placeIn(error.body, jsonLength(error.body));
  return malformed({ zh: `${zh}起不是有效的 JSON`, en: `is not valid JSON at ${en}` });
}

function malformed(message: Bilingual): Refusal {
  return HttpErrors.MALFORMED({ fields: [{ field: 'body', message }] });
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** An empty text is not the empty object that body-parser would make of it. */
function refuseBrokenText(_: IncomingMessage, __: ServerResponse, body: Buffer): void {
  if (body.length === 0) throw malformed(EMPTY);
  if (!isUtf8(body)) {
    const whole = utf8Length(body);
    const { zh, en } = placeIn(body.subarray(0, whole).toString(), Infinity);
    throw malformed({
      zh: `${zh}（第 ${whole + 1} 字节）不是 UTF-8`,
      en: `is not UTF-8 at ${en} (byte ${whole + 1})`,
    });
  }
  if (isTooComplex(body)) throw malformed(TOO_COMPLEX);
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
