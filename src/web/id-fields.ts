import { isTenantCode, TENANT_CODE } from '../tenancy/tenant-code';
import { ID_LIST, isInteger, isTextId, MAX_IDS, parseNumericId, TEXT_ID } from './field-rules';
import { optional, required } from './fields';

/** The decorators of fields that hold ids. */

/** A numeric id as documents describe it. */
export const NUMERIC_ID = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

const isId = (value: unknown): boolean => parseNumericId(value) !== null;
const idOrAsSent = (value: unknown): unknown => parseNumericId(value) ?? value;

const NUMERIC = {
  schema: NUMERIC_ID,
  read: idOrAsSent,
  check: isId,
  zh: 'ID 必须为十进制整数，且不超过 2^53-1',
  en: 'must be a decimal id of at most 2^53-1',
};

/** An optional numeric id, as a number or a decimal string. */
export function IdField(): PropertyDecorator {
  return optional(NUMERIC);
}

/** A numeric id that must be sent, as a number or a decimal string. */
export function RequiredIdField(): PropertyDecorator {
  return required(NUMERIC);
}

/** A snowflake id that must be sent, as text. */
export function RequiredTextIdField(): PropertyDecorator {
  return required({
    schema: { type: 'string', pattern: TEXT_ID },
    check: isTextId,
    zh: '必填，ID 必须为数字字符串',
    en: 'must be a string of digits',
  });
}

/** A list of different numeric ids that must be sent. */
export function RequiredIdsField(max: number): PropertyDecorator {
  return required({
    schema: { type: 'array', items: NUMERIC_ID, minItems: 1, maxItems: max, uniqueItems: true },
    read: (value) => (Array.isArray(value) ? value.map(idOrAsSent) : value),
    check: (value) =>
      Array.isArray(value) &&
      value.length >= 1 &&
      value.length <= max &&
      value.every(isId) &&
      new Set(value).size === value.length,
    zh: `必填，1 到 ${max} 个不重复的 ID`,
    en: `must be a list of 1 to ${max} different ids`,
  });
}

/** An optional list of numeric ids, each once. */
export function IdsField(max: number): PropertyDecorator {
  return optional({
    schema: { type: 'array', items: NUMERIC_ID, maxItems: max },
    read: (value) => (Array.isArray(value) ? [...new Set(value.map(idOrAsSent))] : value),
    check: (value) => Array.isArray(value) && value.length <= max && value.every(isId),
    zh: `必须为 ID 列表，最多 ${max} 个`,
    en: `must be a list of at most ${max} ids`,
  });
}

function idList(max: number): { readonly zh: string; readonly en: string } {
  return {
    zh: `必须为逗号分隔的数字 ID，最多 ${max} 个`,
    en: `must be decimal ids separated by commas, at most ${max}`,
  };
}

/** An optional list of decimal ids in one text, kept as sent. */
export function IdListField(max: number): PropertyDecorator {
  const count = (value: string): number => value.split(',').filter((id) => id.trim() !== '').length;
  return optional({
    schema: { type: 'string', pattern: '^[0-9, ]*$' },
    check: (value) => typeof value === 'string' && /^[0-9, ]*$/.test(value) && count(value) <= max,
    ...idList(max),
  });
}

/** Ids in an address, separated by commas, optional. */
export function IdsParam(): PropertyDecorator {
  return optional({
    schema: { type: 'string', pattern: ID_LIST },
    read: (value) => (typeof value === 'string' ? [...new Set(value.split(',').map(idOrAsSent))] : value),
    check: (value) =>
      Array.isArray(value) && value.length <= MAX_IDS && value.every((id) => isInteger(id, 0, Infinity)),
    ...idList(MAX_IDS),
  });
}

/** A tenant's code in an address, optional. */
export function CodeParam(): PropertyDecorator {
  return optional({
    schema: { type: 'string', pattern: TENANT_CODE },
    check: (value) => typeof value === 'string' && isTenantCode(value),
    zh: '必须为租户编码',
    en: 'must be the code of a tenant',
  });
}
