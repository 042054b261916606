import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { MOST_HEADERS } from './limit-clients';

/** Refuses what is readable HTTP but asks for something that nobody here can give. */
export function refuseOddRequests(
  { method, headers, rawHeaders, httpVersion, url }: Request,
  _: Response,
  next: NextFunction,
): void {
  if (rawHeaders.length > 2 * MOST_HEADERS) next(HttpErrors.HEADERS_TOO_LARGE());
  else if (headers.host === undefined && httpVersion === '1.1') next(HttpErrors.MALFORMED());
  // Node takes the first; a proxy before it may have taken the other.
  else if (hasTwoHosts(rawHeaders)) next(HttpErrors.MALFORMED());
  else if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    next(HttpErrors.EXPECTATION());
  // Node would read what is no UTF-8 as some other text.
  else if (!isDecodable(url)) next(HttpErrors.MALFORMED());
  // Express would answer OPTIONS by itself, in plain text; pages that may ask in advance have their answer already.
  else if (method === 'OPTIONS') next(HttpErrors.NO_ROUTE());
  else next();
}

/** Names and values take turns in it. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
