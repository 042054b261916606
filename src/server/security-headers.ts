import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Every answer says that it is no page. Swagger UI and the root page replace the policy; a read with a tag may be cached. */
const setOnEveryAnswer = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: { action: 'deny' },
  strictTransportSecurity: false,
  // These mean nothing for an answer that is no page.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});
/** For a year, and for this host alone: other hosts of the domain are not ours. */
const onlyOverTls = helmet.strictTransportSecurity({ maxAge: 31_536_000, includeSubDomains: false });

/** They are always the same. */
const onEveryAnswer = new Map([['Cache-Control', 'no-store']]);
setOnEveryAnswer(
  {} as Request,
  {
    setHeader: (name: string, value: string) => onEveryAnswer.set(name, value),
    removeHeader: () => undefined,
  } as unknown as Response,
  () => undefined,
);

export function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  response.setHeaders(onEveryAnswer);
  // TLS ends at a proxy. The client sees the first of several proxies.
  const isTls = /^https(?:$|[ ,])/.test(String(request.headers['x-forwarded-proto']));
  if (isTls) onlyOverTls(request, response, next);
  else next();
}

/**
 * Lets pages of these origins call the API. Without credentials: callers send a token, and a browser must never add a cookie by
 * itself. Any other page is answered as if there were no CORS; the browser keeps the answer from it.
 */
export function corsOptions(origins: readonly string[]): CorsOptions {
  return {
    origin: [...origins],
    methods: 'GET,HEAD,POST,PUT,PATCH,DELETE',
    allowedHeaders: 'Authorization,Content-Type,If-Match,If-None-Match,Idempotency-Key,Prefer,X-Request-Id',
    exposedHeaders:
      'Content-Disposition,ETag,Idempotent-Replayed,Location,Preference-Applied,RateLimit-Limit,RateLimit-Remaining,' +
      'RateLimit-Reset,Retry-After,WWW-Authenticate,X-Change-Cursor,X-Ignored-Fields,X-Request-Id',
    /** Seconds for which a browser need not ask again. */
    maxAge: 600,
  };
}
