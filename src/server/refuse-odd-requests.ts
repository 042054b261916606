import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from '../errors/http.errors';

/** More than any client of this API sends. */
const MAX_HEADERS = 200;

/** Refuses what is readable HTTP but asks for something that this service cannot give. */
export function refuseOddRequests(
  { method, headers, headersDistinct, rawHeaders, httpVersion, url }: Request,
  _: Response,
  next: NextFunction,
): void {
  const { expect = '100-continue' } = headers;
  // Names and values take turns in it.
  if (rawHeaders.length > 2 * MAX_HEADERS) next(HttpErrors.HEADERS_TOO_LARGE());
  // Node takes the first of two; a proxy in front of it may have taken the other.
  else if (headersDistinct.host?.length !== 1 && (httpVersion === '1.1' || headers.host !== undefined))
    next(HttpErrors.MALFORMED());
  else if (expect.toLowerCase() !== '100-continue') next(HttpErrors.EXPECTATION());
  // Node would read what is no UTF-8 as some other text.
  else if (!isDecodable(url)) next(HttpErrors.MALFORMED());
  // Express would answer OPTIONS by itself, in plain text; a CORS preflight has its answer already.
  else if (method === 'OPTIONS') next(HttpErrors.NO_ROUTE());
  else next();
}

function isDecodable(url: string): boolean {
  try {
    return decodeURIComponent(url) !== '';
  } catch {
    return false;
  }
}
