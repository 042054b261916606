import type { NextFunction, Request, Response } from 'express';
import { Refusal } from '../http/error-catalogue';
import { HttpErrors } from '../http/http.errors';
import { noteRefusal } from '../http/outcome';
import { NO_STORE, OAuthError } from './oauth.filter';

/** What is wrong with a body, by the status that its parser gives. */
const BY_STATUS = new Map([
  [400, HttpErrors.MALFORMED],
  [413, HttpErrors.TOO_LARGE],
  [415, HttpErrors.MEDIA_TYPE],
]);

/** Says in the words of RFC 6749 that a request cannot be read: Nest, and so its filter, never sees such a one. */
export function refuseInOAuthForm(
  error: unknown,
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  const refusal = error instanceof Refusal ? error : BY_STATUS.get(statusOf(error))?.();
  if (request.method !== 'POST' || !refusal) {
    next(error);
    return;
  }
  const { reason, status, en } = refusal.row;
  noteRefusal(response, { status, reason });
  response.status(status).set(NO_STORE).json(new OAuthError('invalid_request', en).body);
}

function statusOf(error: unknown): number {
  return Number((error as { status?: unknown } | null)?.status);
}
