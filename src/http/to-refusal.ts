import type { HttpException } from '@nestjs/common';
import { AuthErrors } from '../auth/auth.errors';
import { Refusal, type RefusalFactory } from './error-catalogue';
import { HttpErrors } from './http.errors';

/** What errors of the framework, its parsers and a host's guards mean, by the status they carry. */
const BY_STATUS: ReadonlyMap<number, RefusalFactory> = new Map([
  [400, HttpErrors.MALFORMED],
  [401, AuthErrors.TOKEN_INVALID],
  [403, AuthErrors.ROLE],
  [404, HttpErrors.NO_ROUTE],
  [413, HttpErrors.TOO_LARGE],
  [415, HttpErrors.MEDIA_TYPE],
  [429, HttpErrors.TOO_MANY],
]);

/** What an error means to the client; what nobody foresaw is a failure of ours. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = statusOf(error);
  const known = BY_STATUS.get(status);
  if (known) return known();
  if (isOfNest(error) && status !== 500) return refusedByHost(status, error.message);
  // Other errors of Express and its parsers are about requests too, whatever their number.
  return status >= 400 && status < 500 ? HttpErrors.MALFORMED() : HttpErrors.INTERNAL();
}

/** A guard of the host may refuse for reasons that are not ours. */
function refusedByHost(status: number, message: string): Refusal {
  return new Refusal({ reason: `HTTP_${status}`, status, zh: message, en: message });
}

/** Nest's exceptions answer `getStatus()`; errors of Express and its parsers have a `status` of their own. */
function statusOf(error: unknown): number {
  if (isOfNest(error)) return error.getStatus();
  const { status } = (error ?? {}) as { status?: unknown };
  return typeof status === 'number' ? status : 500;
}

/** Not `instanceof`: a host may have a copy of Nest of its own. */
function isOfNest(error: unknown): error is HttpException {
  return typeof (error as { getStatus?: unknown } | null | undefined)?.getStatus === 'function';
}
