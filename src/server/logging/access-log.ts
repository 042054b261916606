import type { NextFunction, Request, Response } from 'express';
import type { Level, Logger } from 'pino';
import type { Principal } from '../../tenancy/principal';
import {
  clientAddress,
  NO_ROUTE,
  onceClosed,
  outcomeOf,
  routeOf,
  type Outcome,
  requestIdOf,
} from '../../web/request';
import { idleMsOf } from '../../web/work-place';
import { withoutKeys } from '../auth/key-secret';
import { signInNoteOf } from '../auth/sign-in-note';
import { isProbe } from '../health/health.controller';
import type { ServiceMetrics } from '../metrics/service-metrics';

/**
 * One line per request: who asked for what, and how it ended. No header, no query, no body but the name that a sign-in names. Answers are
 * `info`, refusals `warn`, failures `error`: LOG_LEVEL=warn leaves out what went well and nothing else. Probes come every few seconds:
 * they are `debug`, or `warn` when the answer was no.
 */
export class AccessLog {
  readonly #lines: Logger;

  constructor(
    logger: Logger,
    private readonly meter?: ServiceMetrics,
  ) {
    // None of these fields can hold a secret; to look for some in every line would cost ten times the line.
    this.#lines = logger.child({}, { redact: [] });
  }

  readonly watch = (request: Request, response: Response, next: NextFunction): void => {
    const start = performance.now();
    // Now: a connection that is closed has no address any more.
    const address = clientAddress(request);
    this.meter?.began();
    onceClosed(response, () => {
      this.#tell(request, response, address, performance.now() - start);
    });
    next();
  };

  /** Bytes that never became a request were answered. */
  readonly tellUnread = (requestId: string, { status, reason }: Outcome): void => {
    this.#lines.warn({ requestId, status, reason, route: NO_ROUTE });
    this.meter?.unread({ status, reason });
  };

  #tell(request: Request, response: Response, address: string, ms: number): void {
    const { status, reason } = outcomeOf(response);
    const route = routeOf(request);
    const waitedMs = idleMsOf(request);
    this.meter?.ended(request.method, route, { status, reason }, ms - waitedMs);
    const principal = request.user as Principal | undefined;
    const signIn = signInNoteOf(response);
    if (signIn) this.meter?.signedIn(signIn);
    this.#lines[levelOf(status, isProbe(route))]({
      requestId: requestIdOf(request),
      method: request.method,
      path: withoutKeys(request.originalUrl.split('?', 1)[0] ?? ''),
      status,
      reason,
      route,
      tenant: principal?.tenantId ?? signIn?.tenant,
      user: principal?.username ?? (signIn?.user && withoutKeys(signIn.user)),
      outcome: signIn?.outcome,
      session: signIn?.session,
      address,
      ms: Math.round(ms),
      waitedMs: waitedMs > 0 ? Math.round(waitedMs) : undefined,
      aborted: response.writableFinished ? undefined : true,
    });
  }
}

function levelOf(status: number, isAskedOften: boolean): Level {
  if (isAskedOften) return status < 400 ? 'debug' : 'warn';
  return status < 400 ? 'info' : status < 500 ? 'warn' : 'error';
}
