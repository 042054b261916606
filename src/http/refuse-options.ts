import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from './http.errors';

/** Express would answer OPTIONS by itself, in plain text; CORS is closed, so nobody needs it. */
export function refuseOptions(request: Request, _: Response, next: NextFunction): void {
  next(request.method === 'OPTIONS' ? HttpErrors.NO_ROUTE() : undefined);
}
