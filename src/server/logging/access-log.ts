import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Principal } from '../../tenancy/principal';
import { clientAddress, outcomeOf, routeOf, type Outcome, requestIdOf } from '../../web/request';
import { withoutKeys } from '../auth/key-secret';
import { signInNoteOf } from '../auth/sign-in-note';
import type { ServiceMetrics } from '../metrics/service-metrics';

/**
 * One line per request: who asked for what, and how it ended. No header, no query, no body but the name that a sign-in names. Answers are `info`, refusals
 * `warn`, failures `error`: LOG_LEVEL=warn leaves out what went well and nothing else.
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
    response.once('close', () => {
      this.#tell(request, response, address, performance.now() - start);
    });
    next();
  };

  /** Bytes that never became a request were answered. */
  readonly tellUnread = (requestId: string, { status, reason }: Outcome): void => {
    this.#lines.warn({ requestId, status, reason });
    this.meter?.unread({ status, reason });
  };

  #tell(request: Request, response: Response, address: string, ms: number): void {
    const { status, reason } = outcomeOf(response);
    this.meter?.ended(request.method, routeOf(request), { status, reason }, ms);
    const principal = request.user as Principal | undefined;
    const signIn = signInNoteOf(response);
    if (signIn) this.meter?.signedIn(signIn);
    const level = status < 400 ? 'info' : status < 500 ? 'warn' : 'error';
    this.#lines[level]({
      requestId: requestIdOf(request),
      method: request.method,
      path: withoutKeys(request.originalUrl.split('?', 1)[0] ?? ''),
      status,
      reason,
      route: reason === undefined ? undefined : routeOf(request),
      tenant: principal?.tenantId ?? signIn?.tenant,
      user: principal?.username ?? (signIn?.user && withoutKeys(signIn.user)),
      outcome: signIn?.outcome,
      session: signIn?.session,
      address,
      ms: Math.round(ms),
      aborted: response.writableFinished ? undefined : true,
    });
  }
}
