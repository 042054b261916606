import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from './http.errors';

/** Refuses what is readable HTTP but asks for something that nobody here can give. */
export function refuseOddRequests(
  { method, headers, httpVersion }: Request,
  _: Response,
  next: NextFunction,
): void {
  if (headers.host === undefined && httpVersion === '1.1') next(HttpErrors.MALFORMED());
  else if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    next(HttpErrors.EXPECTATION());
  // Express would answer OPTIONS by itself, in plain text; CORS is closed, so nobody needs it.
  else if (method === 'OPTIONS') next(HttpErrors.NO_ROUTE());
  else next();
}
