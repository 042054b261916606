import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Every answer says that it is no page. Swagger UI and the root page replace the policy; a read with a tag may be cached. */
const onEveryAnswer = helmet({
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

export function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', 'no-store');
  // TLS ends at a proxy. The client sees the first of several proxies.
  const isTls = /^https(?:$|[ ,])/.test(String(request.headers['x-forwarded-proto']));
  onEveryAnswer(request, response, () => {
    if (isTls) onlyOverTls(request, response, next);
    else next();
  });
}
