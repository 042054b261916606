import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { refusalHeaders } from '../../web/envelope';
import type { ErrorRow } from '../../errors/refusal';
import { hasBrokenOff, isFailure, noteRefusal, requestIdOf } from '../../web/request';
import { toRefusal } from '../../web/exception.filter';

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
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
/** The request itself is wrong. */
const INVALID_REQUEST: ReadonlySet<number> = new Set([400, 413, 415, 417, 431]);

@Catch()
export class OAuthExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('OAuth');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<Request>(), http.getResponse<Response>());
  }

  answer(error: unknown, request: Request, response: Response): void {
    if (hasBrokenOff(request)) {
      response.end();
      return;
    }
    const refusal = error instanceof OAuthError ? null : toRefusal(error);
    const told = refusal ? describe(refusal.row) : (error as OAuthError);
    const { status } = told;
    noteRefusal(response, { status, reason: refusal?.row.reason ?? told.code });
    if (isFailure({ status }, error))
      this.#logger.error({ requestId: requestIdOf(request), err: error }, 'the request failed');
    response
      .status(status)
      .set(NO_STORE)
      .set(refusal && status !== 400 ? refusalHeaders(refusal.row) : {})
      .json(told.body);
  }
}

/** Middleware: what is refused before Nest knows the route is told in the words of RFC 6749 too. */
export function refuseInOAuthForm(
  error: unknown,
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  if (request.method === 'POST') new OAuthExceptionFilter().answer(error, request, response);
  else next(error);
}

function describe({ status, en }: ErrorRow): OAuthError {
  if (status === 500) return new OAuthError('server_error', en, status);
  if (status === 401 || status === 403) return new OAuthError('invalid_grant', en);
  const code = INVALID_REQUEST.has(status) ? 'invalid_request' : 'temporarily_unavailable';
  return new OAuthError(code, en, status);
}
