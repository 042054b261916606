import { STATUS_CODES } from 'node:http';
import { Catch, Logger, type ArgumentsHost, type ExceptionFilter, type HttpException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { Refusal, type RefusalFactory } from '../errors/refusal';
import { AuthErrors } from '../tenancy/access.errors';
import { failure, inForm, refusalHeaders, releaseAnswer, StatusPolicy, type Envelope } from './envelope';
import {
  CLIENT_GONE,
  echoRequestId,
  hasBrokenOff,
  hasPassedGuards,
  isFailure,
  languageOf,
  noteRefusal,
  requestIdOf,
} from './request';

/** The only catch: every error becomes the envelope, and an unforeseen one becomes a logged 500. */
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
    const refusal = toRefusal(error, hasPassedGuards(request) ? 500 : 403);
    const requestId = requestIdOf(request);
    noteRefusal(response, request.socket.destroyed ? CLIENT_GONE : refusal.row);
    if (isFailure(refusal.row, error)) this.#logger.error({ requestId, err: error }, 'the request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    releaseAnswer(response);
    echoRequestId(request, response);
    // It may be that of an answer at which an interceptor of the host has failed, and would make a 304 of a refusal with 200.
    response.removeHeader('ETag');
    for (const [name, value] of Object.entries(refusalHeaders(refusal.row)))
      // A guard of the host may have said itself how to sign in.
      if (!response.hasHeader(name)) response.setHeader(name, value);
    response
      .status(this.statuses.statusFor(refusal.row.status))
      .type('json')
      .json(this.#inForm(failure(refusal, requestId, languageOf(request)), request));
  }

  /** A form of the host that fails must not hide the refusal. */
  #inForm(answer: Envelope<object>, request: Request): unknown {
    try {
      return inForm(answer, request);
    } catch (err) {
      this.#logger.error({ requestId: requestIdOf(request), err }, 'the option envelope failed');
      return answer;
    }
  }
}

/** What errors of Nest, Express's parsers and a host's guards mean, by the status they carry. */
const BY_STATUS: ReadonlyMap<number, RefusalFactory> = new Map([
  [400, HttpErrors.MALFORMED],
  [401, AuthErrors.TOKEN_INVALID],
  [403, AuthErrors.ROLE],
  [404, HttpErrors.NO_ROUTE],
  [413, HttpErrors.TOO_LARGE],
  [415, HttpErrors.MEDIA_TYPE],
  [429, HttpErrors.TOO_MANY],
]);

/** Statuses that are a matter of guards. Nest itself throws others, with words of its own. */
const SAID_BY_GUARDS = [401, 403, 429];

/**
 * What an error means to the client; an unforeseen one is a failure of ours. `unsaid` is the status of an exception of Nest that
 * names none of a refusal.
 */
export function toRefusal(error: unknown, unsaid: 403 | 500 = 500): Refusal {
  if (error instanceof Refusal) return error;
  const status = isOfNest(error) ? (refusedStatus(error) ?? unsaid) : statusOf(error);
  const known = BY_STATUS.get(status);
  const words = isOfNest(error) && SAID_BY_GUARDS.includes(status) ? wordsOf(error, status) : null;
  if (known) return words === null ? known() : new Refusal({ ...known.row, zh: words, en: words });
  if (isOfNest(error) && status !== 500) {
    // A guard of the host may refuse for reasons that are not ours.
    return new Refusal({ reason: `HTTP_${status}`, status, zh: error.message, en: error.message });
  }
  // Other errors of Express's parsers are about requests too, whatever their number.
  return status >= 400 && status < 500 ? HttpErrors.MALFORMED() : HttpErrors.INTERNAL();
}

/** What a guard of the host tells the caller, such as how to sign in; null where Nest has filled in the words. */
function wordsOf(error: HttpException, status: number): string | null {
  const { msg = error.message } = error.getResponse() as { readonly msg?: unknown };
  const isFilledIn = (text: string) =>
    text.includes(STATUS_CODES[status] ?? 'Exception') || text.endsWith('Exception');
  return typeof msg === 'string' && msg !== '' && !isFilledIn(msg) ? msg : null;
}

/** Some platforms refuse with the status 200 and the true one in a field `code`, of the exception or of its response. */
function refusedStatus(error: HttpException & { readonly code?: unknown }): number | undefined {
  const inside = error.getResponse() as { readonly code?: unknown } | undefined;
  const said = [error.getStatus(), error.code, inside?.code].find((each) => /^[45]\d\d$/.test(String(each)));
  return said === undefined ? undefined : Number(said);
}

/** A `status` of any other error is that of an answer to us: from another service, or from a driver. */
function statusOf(error: unknown): number {
  // Body parsers and the file server throw errors of `http-errors`, which are known by these fields.
  const { status, statusCode, expose } = (error ?? {}) as Record<string, unknown>;
  return typeof status === 'number' && status === statusCode && typeof expose === 'boolean' ? status : 500;
}

/** Not `instanceof`: a host may have a copy of Nest of its own. */
function isOfNest(error: unknown): error is HttpException {
  const { getStatus, getResponse } = (error ?? {}) as Record<string, unknown>;
  return typeof getStatus === 'function' && typeof getResponse === 'function';
}
