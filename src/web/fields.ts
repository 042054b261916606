import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  IsIn,
  IsOptional,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import { isRole, ROLES } from '../tenancy/roles';
import type { Bilingual } from '../errors/refusal';
import { INTEGER_MAX, INTEGER_MIN, isClean, isDay, isEmailText, isInteger, isText } from './field-rules';
import { holdsObject } from './known-fields';

/** Gives a validation rule its text in both languages. */
export function says(zh: string, en: string): ValidationOptions {
  return { message: en, context: { zh, en } satisfies Bilingual };
}

/** A rule of our own, with its texts. */
export function rule(
  name: string,
  validate: (value: unknown) => boolean,
  zh: string,
  en: string,
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate } }, says(zh, en));
}

/** A field that may be left out; null is the same. Documented as this. */
export function optional(schema: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(IsOptional(), ApiProperty({ ...schema, nullable: true }));
}

const trimmed = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.trim() : value;

/** An optional text: trimmed, at most `max` characters. Null is the same as not sent. */
export function TextField(max: number): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'string', maxLength: max }),
    Transform(trimmed),
    rule(
      'text',
      (value) => isText(value, max),
      `必须为不超过 ${max} 个字符的文本`,
      `must be text of at most ${max} characters`,
    ),
  );
}

/** An optional e-mail address; the empty text is allowed. */
export function EmailField(max: number): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'string', format: 'email', maxLength: max }),
    Transform(trimmed),
    rule(
      'email',
      (value) => isEmailText(value, max),
      `必须为不超过 ${max} 个字符的邮箱地址`,
      `must be an e-mail address of at most ${max} characters`,
    ),
  );
}

/** A text that must be sent and not be blank. */
export function RequiredTextField(max: number): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', minLength: 1, maxLength: max }),
    Transform(trimmed),
    rule(
      'requiredText',
      (value) => value !== '' && isText(value, max),
      `必填，不超过 ${max} 个字符`,
      `must be text of 1 to ${max} characters`,
    ),
  );
}

/** Makes the rules of a field hold only when it is sent; null is sent. */
export function IfSent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** An optional text that is kept to the byte. */
export function OpaqueField(maxBytes: number): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'string', maxLength: maxBytes }),
    rule(
      'opaque',
      (value) => isClean(value) && Buffer.byteLength(value) <= maxBytes,
      `必须为不超过 ${maxBytes} 字节的文本`,
      `must be text of at most ${maxBytes} bytes`,
    ),
  );
}

/** A text that must be sent and is taken as it is. */
export function RequiredOpaqueField(maxBytes: number): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', minLength: 1, maxLength: maxBytes }),
    rule(
      'requiredOpaque',
      (value) => value !== '' && isClean(value) && Buffer.byteLength(value) <= maxBytes,
      `必填，不超过 ${maxBytes} 字节`,
      `must be text of 1 to ${maxBytes} bytes`,
    ),
  );
}

/** A new password. */
export function PasswordField(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', format: 'password', minLength: 8, maxLength: 128 }),
    rule(
      'password',
      (value) => isText(value, 128) && Array.from(value).length >= 8,
      '必填，8 到 128 个字符',
      'must be 8 to 128 characters long',
    ),
  );
}

/** An optional list of role names. */
export function RolesField(): PropertyDecorator {
  const list = ROLES.join(', ');
  return applyDecorators(
    optional({ type: 'array', items: { type: 'string', enum: [...ROLES] } }),
    rule(
      'roles',
      (value) => Array.isArray(value) && value.every(isRole),
      `必须为角色列表，可选值：${list}`,
      `must be a list of roles: ${list}`,
    ),
  );
}

/** An optional list of decimal ids in one text, kept as sent. */
export function IdListField(maxIds: number): PropertyDecorator {
  const count = (value: string) => value.split(',').filter((id) => id.trim() !== '').length;
  return applyDecorators(
    optional({ type: 'string', pattern: '^[0-9, ]*$' }),
    rule(
      'idList',
      (value) => typeof value === 'string' && /^[0-9, ]*$/.test(value) && count(value) <= maxIds,
      `必须为逗号分隔的数字 ID，最多 ${maxIds} 个`,
      `must be decimal ids separated by commas, at most ${maxIds}`,
    ),
  );
}

/** An optional integer of 32 bits. */
export function IntegerField(min = INTEGER_MIN, max = INTEGER_MAX): PropertyDecorator {
  return applyDecorators(
    optional({ type: 'integer', format: 'int32', minimum: min, maximum: max }),
    rule(
      'integer',
      (value) => isInteger(value, min, max),
      `必须为 ${min} 到 ${max} 之间的整数`,
      `must be an integer from ${min} to ${max}`,
    ),
  );
}

export function notBeforeText(other = ''): Bilingual {
  return { zh: `不能早于 ${other}`, en: `must not be before ${other}` };
}

/** An optional calendar day, `YYYY-MM-DD`, not before the day in the field `notBefore`. */
export function DayField(notBefore?: string): PropertyDecorator {
  const inOrder = (value: unknown, args?: ValidationArguments): boolean => {
    const earliest = (args?.object as Record<string, unknown> | undefined)?.[notBefore ?? ''];
    return !isDay(earliest) || !isDay(value) || earliest <= value;
  };
  return applyDecorators(
    optional({ type: 'string', format: 'date' }),
    rule('day', isDay, '必须为有效日期，格式为 YYYY-MM-DD', 'must be a valid date in the form YYYY-MM-DD'),
    rule('dayOrder', inOrder, notBeforeText(notBefore).zh, notBeforeText(notBefore).en),
  );
}

/** An optional object with fields of its own. */
export function ObjectField(type: () => new () => object): PropertyDecorator {
  const text = ['必须为对象', 'must be an object'] as const;
  return applyDecorators(
    IsOptional(),
    ApiProperty({ type: () => type() }),
    Type(type),
    holdsObject(type),
    rule('object', (value) => typeof value === 'object' && !Array.isArray(value), ...text),
    ValidateNested(says(...text)),
  );
}

/** One of a few texts, optional. */
export function ChoiceField(...choices: string[]): PropertyDecorator {
  const zh = choices.join('、').replace(/、(?=[^、]*$)/, ' 或 ');
  const en = choices
    .map((choice) => `'${choice}'`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ');
  return applyDecorators(
    optional({ type: 'string', enum: [...choices, null] }),
    IsIn(choices, says(`只能为 ${zh}`, `must be ${en}`)),
  );
}
