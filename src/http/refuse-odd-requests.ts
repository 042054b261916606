import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from './http.errors';

/** Refuses what is readable HTTP but asks for something that nobody here can give. */
export function refuseOddRequests(
  { method, headers, httpVersion, url }: Request,
  _: Response,
  next: NextFunction,
): void {
  if (headers.host === undefined && httpVersion === '1.1') next(HttpErrors.MALFORMED());
  else if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    next(HttpErrors.EXPECTATION());
  // Node would read what is no UTF-8 as some other text.
  else if (!isDecodable(url)) next(HttpErrors.MALFORMED());
  // Express would answer OPTIONS by itself, in plain text; pages that may ask in advance have their answer already.
  else if (method === 'OPTIONS') next(HttpErrors.NO_ROUTE());
  else next();
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
