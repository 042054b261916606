import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { refusalHeaders } from '../http/envelope';
import { Refusal } from '../http/error-catalogue';
import { isFailure, noteRefusal } from '../http/outcome';
import { requestIdOf } from '../http/request-id';

/** An error in the words of RFC 6749. */
export class OAuthError extends Error {
  constructor(
    readonly code: string,
    description: string,
    readonly status = 400,
  ) {
    super(description);
  }

  get body(): { readonly error: string; readonly error_description: string } {
    return { error: this.code, error_description: this.message };
  }
}

/** As RFC 6749 wants it for every answer of the token endpoint. */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

@Catch()
export class OAuthExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('OAuth');

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const told = describe(error);
    const { status } = told;
    noteRefusal(response, { status, reason: error instanceof Refusal ? error.row.reason : told.code });
    if (isFailure({ status }, error))
      this.#logger.error({ requestId: requestIdOf(request), err: error }, 'the request failed');
    response
      .status(status)
      .set(NO_STORE)
      .set(error instanceof Refusal && status !== 400 ? refusalHeaders(error.row) : {})
      .json(told.body);
  }
}

function describe(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof Refusal)) return new OAuthError('server_error', 'Internal server error', 500);
  const { status, en } = error.row;
  if (status === 401 || status === 403) return new OAuthError('invalid_grant', en);
  return status === 400
    ? new OAuthError('invalid_request', en)
    : new OAuthError('temporarily_unavailable', en, status);
}
