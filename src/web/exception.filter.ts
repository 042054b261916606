import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { failure, refusalHeaders } from './envelope';
import { StatusPolicy } from './status-policy';
import { languageOf } from './language';
import { hasBrokenOff, isFailure, noteRefusal } from './outcome';
import { requestIdOf } from './request-id';
import { toRefusal } from './to-refusal';

/** The only catch: every error becomes the envelope, and what nobody foresaw becomes a logged 500. */
@Catch()
export class EnvelopeExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('Request');

  constructor(private readonly statuses: StatusPolicy) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (hasBrokenOff(request)) {
      response.end();
      return;
    }
    const refusal = toRefusal(error);
    const requestId = requestIdOf(request);
    noteRefusal(response, refusal.row);
    if (isFailure(refusal.row, error)) this.#logger.error({ requestId, err: error }, 'the request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response
      .status(this.statuses.statusFor(refusal.row.status))
      .set(refusalHeaders(refusal.row))
      .type('json')
      .json(failure(refusal, requestId, languageOf(request)));
  }
}
