import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { failure, refusalHeaders } from './envelope';
import { Refusal, type RefusalFactory } from './error-catalogue';
import { HttpErrors } from './http.errors';
import { StatusPolicy } from './status-policy';
import { languageOf } from './language';
import { requestIdOf } from './request-id';

/** What errors of the framework and its parsers mean, by the status they carry. */
const BY_STATUS: ReadonlyMap<number, RefusalFactory> = new Map([
  [400, HttpErrors.MALFORMED],
  [404, HttpErrors.NO_ROUTE],
  [413, HttpErrors.TOO_LARGE],
  [415, HttpErrors.MEDIA_TYPE],
]);

/** The only catch: every error becomes the envelope, and what nobody foresaw becomes a logged 500. */
@Catch()
export class EnvelopeExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('Request');

  constructor(private readonly statuses: StatusPolicy) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const refusal = toRefusal(error);
    const requestId = requestIdOf(request);
    if (refusal.row.status === 500) this.#logger.error({ requestId, err: error }, 'unexpected error');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response.locals.reason = refusal.row.reason;
    response
      .status(this.statuses.statusFor(refusal.row.status))
      .set(refusalHeaders(refusal.row))
      .type('json')
      .json(failure(refusal, requestId, languageOf(request)));
  }
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = statusOf(error);
  // Other refusals of the framework are about requests too, whatever their number.
  const fallback = status >= 400 && status < 500 ? HttpErrors.MALFORMED : HttpErrors.INTERNAL;
  return (BY_STATUS.get(status) ?? fallback)();
}

/** Nest's exceptions answer `getStatus()`; errors of Express and its parsers have a `status` of their own. */
function statusOf(error: unknown): number {
  const carrier = error as { status?: unknown; getStatus?: () => number } | null | undefined;
  if (typeof carrier?.getStatus === 'function') return carrier.getStatus();
  return typeof carrier?.status === 'number' ? carrier.status : 500;
}
