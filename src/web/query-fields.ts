import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { isTenantCode, TENANT_CODE } from '../tenancy/tenant-code';
import { isInteger, isText } from './field-rules';
import { optional, rule } from './fields';
import { ID_LIST, parseNumericId } from './ids';
import { MAX_IDS } from './ids.pipe';

interface Sent {
  readonly value: unknown;
}

/** A number in an address, optional. */
export function NumberParam(min: number, max: number): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'integer', format: 'int32', minimum: min, maximum: max }),
    Transform(({ value }: Sent) => parseNumericId(value) ?? value),
    rule(
      'numberParam',
      (value) => isInteger(value, min, max),
      `必须为 ${min} 到 ${max} 之间的整数`,
      `must be an integer from ${min} to ${max}`,
    ),
  );
}

/** A text to look for, optional: trimmed, and nothing to look for when it is empty. */
export function SearchParam(max: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: Sent) => (typeof value === 'string' ? value.trim() || undefined : value)),
    optional({ type: 'string', maxLength: max }),
    rule(
      'searchParam',
      (value) => isText(value, max),
      `必须为不超过 ${max} 个字符的文本`,
      `must be text of at most ${max} characters`,
    ),
  );
}

/** A tenant's code, optional. */
export function CodeParam(): PropertyDecorator {
  const text = ['必须为租户编码', 'must be the code of a tenant'] as const;
  return applyDecorators(
    optional({ type: 'string', pattern: TENANT_CODE }),
    rule('codeParam', (value) => typeof value === 'string' && isTenantCode(value), ...text),
  );
}

/** Ids separated by commas, optional. */
export function IdsParam(): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'string', pattern: ID_LIST }),
    Transform(({ value }: Sent) => toIds(value) ?? value),
    rule(
      'idsParam',
      (value) =>
        Array.isArray(value) && value.length <= MAX_IDS && value.every((id) => isInteger(id, 0, Infinity)),
      `必须为逗号分隔的数字 ID，最多 ${MAX_IDS} 个`,
      `must be decimal ids separated by commas, at most ${MAX_IDS}`,
    ),
  );
}

/** `true` or `false`, optional. */
export function FlagParam(): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'boolean' }),
    Transform(({ value }: Sent) => (value === 'true' ? true : value === 'false' ? false : value)),
    rule('flagParam', (value) => typeof value === 'boolean', '只能为 true 或 false', 'must be true or false'),
  );
}

function toIds(value: unknown): number[] | null {
  if (typeof value !== 'string') return null;
  const ids = value.split(',').map(parseNumericId);
  return ids.includes(null) ? null : [...new Set(ids as number[])];
}
