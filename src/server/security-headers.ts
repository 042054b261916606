import type { NextFunction, Request, Response } from 'express';

/**
 * What every answer tells browsers: nothing here is a page, nothing runs, nothing is framed, guessed at or kept. An answer
 * that may be kept (a read with its tag) or that is a page (Swagger UI) says so itself, later and under the same names.
 */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
];
/** The same for answers that are written by hand. */
export const SECURITY_LINES: readonly string[] = SECURITY_HEADERS.map(([name, value]) => `${name}: ${value}`);

/** A year, for this host alone: its neighbours in the domain are not ours. */
const ONLY_TLS = 'max-age=31536000';

/** Written out here, not by a package: they are always the same, and setting them is all that it costs. */
export function securityHeaders({ headers }: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  if (cameOverTls(headers['x-forwarded-proto'])) response.setHeader('Strict-Transport-Security', ONLY_TLS);
  next();
}

/** TLS ends at a proxy, which says so; the first of several proxies is the one that the client sees. */
function cameOverTls(said: string | string[] | undefined): boolean {
  return typeof said === 'string' && /^https(?:$|[ ,])/.test(said);
}
