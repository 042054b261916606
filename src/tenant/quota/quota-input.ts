import { HttpErrors } from '../../errors/http.errors';
import { INTEGER_MAX, isInteger, isText } from '../../web/field-rules';
import { MAX_KEY, MAX_NOTE, MAX_SECONDS } from './quota.dto';

/** What requests are checked for by their classes; code of a host may call with anything. */

const MORE_THAN_RESERVED = { zh: '不能大于预留数量', en: 'must not be more than what was reserved' };
const NO_KEY = { zh: `必填，不超过 ${MAX_KEY} 个字符`, en: `must be text of 1 to ${MAX_KEY} characters` };
const NO_NOTE = {
  zh: `必须为不超过 ${MAX_NOTE} 个字符的文本`,
  en: `must be text of at most ${MAX_NOTE} characters`,
};

export function moreThanReserved(): Error {
  return invalid('amount', MORE_THAN_RESERVED);
}

function invalid(field: string, message: { readonly zh: string; readonly en: string }): Error {
  return HttpErrors.INVALID({ fields: [{ field, message }] });
}

function checkedNumber(field: string, value: unknown, most: number): number {
  if (isInteger(value, 1, most)) return value;
  throw invalid(field, { zh: `必须为 1 到 ${most} 之间的整数`, en: `must be an integer from 1 to ${most}` });
}

export function checkedAmount(value: unknown): number {
  return checkedNumber('amount', value, INTEGER_MAX);
}

export function checkedSeconds(value: unknown): number {
  return checkedNumber('seconds', value, MAX_SECONDS);
}

/** Without spaces around it: MySQL would take `a` and `a ` for the same key, other databases would not. */
export function checkedKey(field: string, value: unknown): string {
  const key = typeof value === 'string' ? value.trim() : value;
  if (key === '' || !isText(key, MAX_KEY)) throw invalid(field, NO_KEY);
  return key;
}

export function checkedNote(value: unknown): string | null {
  if (value == null) return null;
  if (!isText(value, MAX_NOTE)) throw invalid('note', NO_NOTE);
  return value;
}
