import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { optional, rule } from './fields';
import { isTextId, parseNumericId, TEXT_ID } from './ids';

/** A numeric id as documents describe it. */
export const NUMERIC_ID = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

const idOrAsSent = ({ value }: { value: unknown }): unknown => parseNumericId(value) ?? value;
const isId = (value: unknown): boolean => parseNumericId(value) !== null;

/** An optional numeric id, as a number or a decimal string. */
export function IdField(): PropertyDecorator {
  return applyDecorators(RequiredIdField(), optional({}));
}

/** A numeric id that must be sent, as a number or a decimal string. */
export function RequiredIdField(): PropertyDecorator {
  return applyDecorators(
    ApiProperty(NUMERIC_ID),
    Transform(idOrAsSent),
    rule('id', isId, 'ID 必须为十进制整数，且不超过 2^53-1', 'must be a decimal id of at most 2^53-1'),
  );
}

/** A snowflake id that must be sent, as text. */
export function RequiredTextIdField(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', pattern: TEXT_ID }),
    rule('textId', isTextId, '必填，ID 必须为数字字符串', 'must be a string of digits'),
  );
}

/** A list of different numeric ids that must be sent. */
export function RequiredIdsField(max: number): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'array', items: NUMERIC_ID, minItems: 1, maxItems: max, uniqueItems: true }),
    Transform(({ value }: { value: unknown }) =>
      Array.isArray(value) ? value.map((each: unknown) => parseNumericId(each) ?? each) : value,
    ),
    rule(
      'ids',
      (value) =>
        Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= max &&
        value.every(isId) &&
        new Set(value).size === value.length,
      `必填，1 到 ${max} 个不重复的 ID`,
      `must be a list of 1 to ${max} different ids`,
    ),
  );
}
