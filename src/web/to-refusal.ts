import type { HttpException } from '@nestjs/common';
import { AuthErrors } from '../tenancy/access.errors';
import { Refusal, type RefusalFactory } from '../errors/refusal';
import { HttpErrors } from '../errors/http.errors';

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

/** What an error means to the client; what nobody foresaw is a failure of ours. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = statusOf(error);
  const known = BY_STATUS.get(status);
  if (known) return known();
  if (isOfNest(error) && status !== 500) return refusedByHost(status, error.message);
  // Other errors of Express's parsers are about requests too, whatever their number.
  return status >= 400 && status < 500 ? HttpErrors.MALFORMED() : HttpErrors.INTERNAL();
}

/** A guard of the host may refuse for reasons that are not ours. */
function refusedByHost(status: number, message: string): Refusal {
  return new Refusal({ reason: `HTTP_${status}`, status, zh: message, en: message });
}

/** Any other `status` is that of somebody else's answer, to a question of ours. */
function statusOf(error: unknown): number {
  if (isOfNest(error)) return error.getStatus();
  return isOfExpress(error) ? error.status : 500;
}

/** Body parsers and the file server throw errors of `http-errors`, which are known by these fields. */
function isOfExpress(error: unknown): error is { readonly status: number } {
  const { status, statusCode, expose } = (error ?? {}) as Record<string, unknown>;
  return typeof status === 'number' && status === statusCode && typeof expose === 'boolean';
}

/** Not `instanceof`: a host may have a copy of Nest of its own. */
function isOfNest(error: unknown): error is HttpException {
  return typeof (error as { getStatus?: unknown } | null | undefined)?.getStatus === 'function';
}
