import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import {
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  type ValidationOptions,
} from 'class-validator';
import type { Bilingual } from './error-catalogue';
import { parseNumericId } from './numeric-id';

/** Gives a validation rule its text in both languages. */
export function says(zh: string, en: string): ValidationOptions {
  return { message: en, context: { zh, en } satisfies Bilingual };
}

/** A rule of our own, with its texts. */
function rule(
  name: string,
  validate: (value: unknown) => boolean,
  zh: string,
  en: string,
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate } }, says(zh, en));
}

const trimmed = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.trim() : value;
const idOrAsSent = ({ value }: { value: unknown }): unknown => parseNumericId(value) ?? value;

/** Counts characters as people and the database do: an emoji is one. */
function fits(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max);
}

/** NUL ends texts early in too many places; half a surrogate pair is no character at all. */
function isCleanText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** An optional text: trimmed, at most `max` characters. Null is the same as not sent. */
export function TextField(max: number): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    Transform(trimmed),
    rule(
      'text',
      (value) => typeof value === 'string' && isCleanText(value) && fits(value, max),
      `必须为不超过 ${max} 个字符的文本`,
      `must be a text of at most ${max} characters`,
    ),
  );
}

/** An optional e-mail address; the empty text is allowed. */
export function EmailField(max: number): PropertyDecorator {
  return applyDecorators(
    TextField(max),
    ValidateIf((_, value) => value !== '' && value !== null && value !== undefined),
    IsEmail({}, says('邮箱格式不正确', 'must be an e-mail address')),
  );
}

/** An optional 32-bit integer. */
export function IntegerField(): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    IsInt(says('必须为整数', 'must be an integer')),
    Min(-(2 ** 31), says('数值过小', 'is too small')),
    Max(2 ** 31 - 1, says('数值过大', 'is too large')),
  );
}

/** One of a few texts, optional. */
export function ChoiceField(...choices: string[]): PropertyDecorator {
  const list = choices.map((choice) => `'${choice}'`).join(', ');
  return applyDecorators(IsOptional(), IsIn(choices, says(`只能为 ${list}`, `must be one of ${list}`)));
}

const isId = (value: unknown): boolean => parseNumericId(value) !== null;

/** An optional numeric id, as a number or a decimal string. */
export function IdField(): PropertyDecorator {
  return applyDecorators(IsOptional(), RequiredIdField());
}

/** A numeric id that must be sent, as a number or a decimal string. */
export function RequiredIdField(): PropertyDecorator {
  return applyDecorators(
    Transform(idOrAsSent),
    rule('id', isId, '必须为数字 id（不超过 2^53-1）', 'must be a numeric id up to 2^53-1'),
  );
}
