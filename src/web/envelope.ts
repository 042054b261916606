import type { ErrorRow, Refusal } from '../errors/refusal';
import type { Language } from './language';

/** The form of every answer. */
export interface Envelope<T> {
  readonly code: number;
  readonly msg: string;
  readonly data: T;
}

/** `data` of a refused request. */
export interface RefusalData {
  readonly reason: string;
  readonly requestId: string;
  readonly fields?: readonly { readonly field: string; readonly message: string }[];
  readonly ids?: readonly (number | string)[];
}

export const SUCCESS_CODE = 200;
export const SUCCESS_MESSAGE = '操作成功';

export function success<T>(data: T): Envelope<T> {
  return { code: SUCCESS_CODE, msg: SUCCESS_MESSAGE, data };
}

export function failure(refusal: Refusal, requestId: string, language: Language): Envelope<RefusalData> {
  const { row, details } = refusal;
  return {
    code: row.status,
    msg: row[language],
    data: {
      reason: row.reason,
      requestId,
      ...(details.fields && {
        fields: details.fields.map(({ field, message }) => ({ field, message: message[language] })),
      }),
      ...(details.ids && { ids: details.ids }),
    },
  };
}

/** Headers that a refusal carries beside its envelope. */
export function refusalHeaders(row: ErrorRow): Record<string, string> {
  return {
    ...(row.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(row.retryAfter !== undefined && { 'Retry-After': String(row.retryAfter) }),
  };
}
