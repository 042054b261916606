import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Principal } from '../auth/principal';
import { requestIdOf } from '../http/request-id';

/** One line per answered request: who asked for what, and how it ended. No header, no query, no body. */
export function accessLog(logger: Logger): RequestHandler {
  // None of these fields can hold a secret; to look for some in every line would cost ten times the line.
  const lines = logger.child({}, { redact: [] });
  return (request: Request, response: Response, next: NextFunction) => {
    const start = performance.now();
    response.once('close', () => {
      const principal = request.user as Principal | undefined;
      lines[response.statusCode >= 500 ? 'error' : 'info']({
        requestId: requestIdOf(request),
        method: request.method,
        path: request.originalUrl.split('?', 1)[0],
        status: response.statusCode,
        reason: response.locals.reason as string | undefined,
        tenant: principal?.tenantId,
        user: principal?.username,
        ms: Math.round(performance.now() - start),
        aborted: response.writableFinished ? undefined : true,
      });
    });
    next();
  };
}
