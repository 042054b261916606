import { applyDecorators, type Type as Class } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  IsOptional,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import type { Bilingual } from '../errors/refusal';
import { isRole, ROLES } from '../tenancy/roles';
import { TIME_PATTERN } from '../time/zoned-time';
import {
  INTEGER_MAX,
  INTEGER_MIN,
  isClean,
  isDay,
  isEmailText,
  isInteger,
  isText,
  parseNumericId,
} from './field-rules';

/** The decorators of fields that clients send: each checks its field and documents it. */

interface Field extends Bilingual {
  readonly schema: ApiPropertyOptions;
  /** Whether a value is right; if not, `zh` and `en` tell the client what it must be. */
  readonly check: (value: unknown) => boolean;
  /** Turns what was sent into what is checked and kept. */
  readonly read?: (value: unknown) => unknown;
}

/** Gives a validation rule its text in both languages. */
function says({ zh, en }: Bilingual): ValidationOptions {
  return { message: en, context: { zh, en } };
}

export function required({ schema, check, read, ...texts }: Field): PropertyDecorator {
  return applyDecorators(
    ApiProperty(schema),
    ...(read ? [Transform(({ value }) => read(value))] : []),
    ValidateBy({ name: texts.en, validator: { validate: check } }, says(texts)),
  );
}

/** A field that may be left out; null is the same. */
export function optional(field: Field): PropertyDecorator {
  return applyDecorators(IsOptional(), required({ ...field, schema: { ...field.schema, nullable: true } }));
}

/** Makes the rules of a field hold only when it is sent; null is sent. */
export function IfSent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

function trimmed(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value;
}

function text(max: number): Field {
  return {
    schema: { type: 'string', maxLength: max },
    check: (value) => isText(value, max),
    zh: `必须为不超过 ${max} 个字符的文本`,
    en: `must be text of at most ${max} characters`,
  };
}

/** An optional text: trimmed, at most `max` characters. */
export function TextField(max: number): PropertyDecorator {
  return optional({ ...text(max), read: trimmed });
}

/** An optional text to look for: trimmed, and nothing to look for when it is empty. */
export function SearchParam(max: number): PropertyDecorator {
  return optional({ ...text(max), read: (value) => (trimmed(value) === '' ? undefined : trimmed(value)) });
}

/** A text that must be sent and not be blank. */
export function RequiredTextField(max: number): PropertyDecorator {
  return required({
    schema: { type: 'string', minLength: 1, maxLength: max },
    read: trimmed,
    check: (value) => value !== '' && isText(value, max),
    zh: `必填，不超过 ${max} 个字符`,
    en: `must be text of 1 to ${max} characters`,
  });
}

/** An optional e-mail address; the empty text is allowed. */
export function EmailField(max: number): PropertyDecorator {
  return optional({
    schema: { type: 'string', format: 'email', maxLength: max },
    read: trimmed,
    check: (value) => isEmailText(value, max),
    zh: `必须为不超过 ${max} 个字符的邮箱地址`,
    en: `must be an e-mail address of at most ${max} characters`,
  });
}

/** An optional text that is kept to the byte. */
export function OpaqueField(maxBytes: number): PropertyDecorator {
  return optional({
    schema: { type: 'string', maxLength: maxBytes },
    check: (value) => isClean(value) && Buffer.byteLength(value) <= maxBytes,
    zh: `必须为不超过 ${maxBytes} 字节的文本`,
    en: `must be text of at most ${maxBytes} bytes`,
  });
}

/** A text that must be sent and is taken as it is. */
export function RequiredOpaqueField(maxBytes: number): PropertyDecorator {
  return required({
    schema: { type: 'string', minLength: 1, maxLength: maxBytes },
    check: (value) => value !== '' && isClean(value) && Buffer.byteLength(value) <= maxBytes,
    zh: `必填，不超过 ${maxBytes} 字节`,
    en: `must be text of 1 to ${maxBytes} bytes`,
  });
}

/** A new password. */
export function PasswordField(): PropertyDecorator {
  return required({
    schema: { type: 'string', format: 'password', minLength: 8, maxLength: 128 },
    check: (value) => isText(value, 128) && Array.from(value).length >= 8,
    zh: '必填，8 到 128 个字符',
    en: 'must be 8 to 128 characters long',
  });
}

/** An optional list of role names. */
export function RolesField(): PropertyDecorator {
  const list = ROLES.join(', ');
  return optional({
    schema: { type: 'array', items: { type: 'string', enum: [...ROLES] } },
    check: (value) => Array.isArray(value) && value.every(isRole),
    zh: `必须为角色列表，可选值：${list}`,
    en: `must be a list of roles: ${list}`,
  });
}

/** One of a few texts, optional. */
export function ChoiceField(...choices: string[]): PropertyDecorator {
  return optional(choice(choices, { type: 'string', enum: [...choices, null] }));
}

/** One of a few texts in an address, optional. */
export function ChoiceParam(...choices: string[]): PropertyDecorator {
  // Nest loses the enumeration of a parameter that its class documents, unless it is in a schema of its own.
  const schema = { type: 'string', schema: { enum: choices } } as ApiPropertyOptions;
  return optional(choice(choices, schema));
}

function choice(choices: readonly string[], schema: ApiPropertyOptions): Field {
  const zh = choices.join('、').replace(/、(?=[^、]*$)/, ' 或 ');
  const en = choices
    .map((each) => `'${each}'`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ');
  return {
    schema,
    check: (value) => choices.includes(value as string),
    zh: `只能为 ${zh}`,
    en: `must be ${en}`,
  };
}

function integer(min: number, max: number): Field {
  return {
    schema: { type: 'integer', format: 'int32', minimum: min, maximum: max },
    check: (value) => isInteger(value, min, max),
    zh: `必须为 ${min} 到 ${max} 之间的整数`,
    en: `must be an integer from ${min} to ${max}`,
  };
}

/** An optional integer of 32 bits. */
export function IntegerField(min = INTEGER_MIN, max = INTEGER_MAX): PropertyDecorator {
  return optional(integer(min, max));
}

/** An integer that must be sent. */
export function RequiredIntegerField(min: number, max: number): PropertyDecorator {
  return required(integer(min, max));
}

/** An optional number in an address, where it is text. */
export function NumberParam(min: number, max: number): PropertyDecorator {
  return optional({ ...integer(min, max), read: (value) => parseNumericId(value) ?? value });
}

/** `true` or `false` in an address, optional. */
export function FlagParam(): PropertyDecorator {
  return optional({
    schema: { type: 'boolean' },
    read: (value) => (value === 'true' ? true : value === 'false' ? false : value),
    check: (value) => typeof value === 'boolean',
    zh: '只能为 true 或 false',
    en: 'must be true or false',
  });
}

export function notBeforeText(other: string): Bilingual {
  return { zh: `不能早于 ${other}`, en: `must not be before ${other}` };
}

/** An optional calendar day, `YYYY-MM-DD`, not before the day in the field `notBefore`. */
export function DayField(notBefore?: string): PropertyDecorator {
  const day = optional({
    schema: { type: 'string', format: 'date' },
    check: isDay,
    zh: '必须为有效日期，格式为 YYYY-MM-DD',
    en: 'must be a valid date in the form YYYY-MM-DD',
  });
  if (notBefore === undefined) return day;
  const validate = (value: unknown, args?: ValidationArguments): boolean => {
    const earliest = (args?.object as Record<string, unknown> | undefined)?.[notBefore];
    return !isDay(earliest) || !isDay(value) || earliest <= value;
  };
  return applyDecorators(
    day,
    ValidateBy({ name: 'dayOrder', validator: { validate } }, says(notBeforeText(notBefore))),
  );
}

export const NOT_A_TIME = {
  zh: '必须为时间：YYYY-MM-DD、YYYY-MM-DD HH:MM:SS 或 ISO 8601',
  en: 'must be a time: YYYY-MM-DD, YYYY-MM-DD HH:MM:SS or ISO 8601',
};
const TIME = `^${TIME_PATTERN}$`;
const isTime = new RegExp(TIME);

/** An optional time, as `ZonedTime` reads it: only that knows whether there is such a day. */
export function TimeField(): PropertyDecorator {
  return optional({
    schema: { type: 'string', pattern: TIME, maxLength: 40 },
    check: (value) => typeof value === 'string' && isTime.test(value),
    ...NOT_A_TIME,
  });
}

const OBJECT_TYPE = Symbol('objectType');

/** An optional object with fields of its own. */
export function ObjectField(type: () => Class): PropertyDecorator {
  const texts = { zh: '必须为对象', en: 'must be an object' };
  const check = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
  return applyDecorators(
    IsOptional(),
    required({ schema: { type: () => type() }, check, ...texts }),
    Type(type),
    Reflect.metadata(OBJECT_TYPE, type),
    ValidateNested(says(texts)),
  );
}

/** The class of an object field; undefined for other fields. */
export function objectTypeOf({ prototype }: Class, field: string): Class | undefined {
  const type = Reflect.getMetadata(OBJECT_TYPE, prototype as object, field) as (() => Class) | undefined;
  return type?.();
}
