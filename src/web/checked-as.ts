import { ValidationPipe, type Type, type ValidationError } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { HttpErrors } from '../errors/http.errors';
import type { Bilingual, FieldProblem } from '../errors/refusal';
import { objectTypeOf } from './fields';

const pipe = new ValidationPipe({
  transform: true,
  whitelist: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  validateCustomDecorators: true,
  exceptionFactory: (errors) => HttpErrors.INVALID({ fields: errors.flatMap((error) => problemsOf(error)) }),
});

/**
 * Checks the shape of a body, or of the parameters after the question mark, and makes it an instance of its class. Keys that
 * the class does not know are ignored. Code of a host may call services with anything, so they check what requests were checked for.
 */
export async function checkedAs<T extends object>(type: Type<T> | undefined, value: unknown): Promise<T> {
  const known = pickKnownFields(value, type);
  const isEmpty = type !== undefined && isObject(known) && Object.keys(known).length === 0;
  const before = isEmpty ? emptyInputs.get(type) : undefined;
  if (before) return before as T;
  const input = (await pipe.transform(known, { type: 'custom', metatype: type })) as T;
  if (isEmpty) emptyInputs.set(type, Object.freeze(input));
  return input;
}

/** What a class makes of nothing, which is always the same: most reads send no parameters. */
const emptyInputs = new WeakMap<Type, object>();

function problemsOf(error: ValidationError, path = ''): FieldProblem[] {
  const field = path + error.property;
  const messages = Object.values<Bilingual>(error.contexts ?? {});
  const children = (error.children ?? []).flatMap((child) => problemsOf(child, `${field}.`));
  return [...messages.map((message) => ({ field, message })), ...children];
}

/** The fields of a class that have rules, with the classes of those that hold objects. */
const fieldsByClass = new WeakMap<Type, ReadonlyMap<string, Type | undefined>>();

/**
 * What of a body its class knows. The rest is left out, and what is of the wrong shape is emptied, before class-transformer
 * and class-validator walk all of it: 19,000 unknown keys, which the limit of values allows, cost them more than 300 ms. A value
 * that is emptied is still wrong, and refused in the same words.
 */
function pickKnownFields(body: unknown, type: Type | undefined): unknown {
  const fields = type && fieldsOf(type);
  if (!fields || fields.size === 0 || !isObject(body)) return body;
  const sent = body as Record<string, unknown>;
  return Object.fromEntries(
    [...fields]
      .filter(([name]) => Object.hasOwn(sent, name))
      .map(([name, objectType]) => [name, emptyWrongShape(sent[name], objectType)]),
  );
}

function emptyWrongShape(value: unknown, objectType: Type | undefined): unknown {
  if (!isObject(value)) return value;
  if (objectType) return Array.isArray(value) ? [] : pickKnownFields(value, objectType);
  return Array.isArray(value) && !value.some(isObject) ? value : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function fieldsOf(type: Type): ReadonlyMap<string, Type | undefined> {
  const known = fieldsByClass.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = new Map(rules.map(({ propertyName }) => [propertyName, objectTypeOf(type, propertyName)]));
  fieldsByClass.set(type, fields);
  return fields;
}
