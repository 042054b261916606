import type { Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { ApiProperty, ApiSchema, getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';

// Without it, a class of the library would fail while it is loaded, with an error that does not say why.
if (!('DECORATORS' in swagger)) throw new Error('Tenantry needs @nestjs/swagger 11.4.4 or later.');

/** The names under which Swagger keeps what its decorators say. */
export const { DECORATORS } = swagger;

/** In a document schemas carry this prefix, because a host may have a class `TenantDto` of its own. */
export const SCHEMA_PREFIX = 'Tenantry';

const types = new Map<string, Type>();

/** The classes of all schemas by their names in a document. */
export const schemaTypes: ReadonlyMap<string, Type> = types;

/** What a class is about, without the suffix of its role. */
export function stem({ name }: Type): string {
  return name.replace(/Dto$/, '');
}

/** A reference to the schema of a class. */
export function schemaRef(type: Type): { $ref: string } {
  nameSchema(type);
  return { $ref: getSchemaPath(type) };
}

/** Names the schema of a class, and those of the classes that it extends and that its fields have. */
export function nameSchema(type: Type): void {
  const name = SCHEMA_PREFIX + stem(type);
  if (types.get(name) === type) return;
  types.set(name, type);
  ApiSchema({ name })(type);
  for (const part of [Object.getPrototypeOf(type), ...fieldTypes(type)].filter(isOwnClass)) nameSchema(part);
}

const BUILT_IN: readonly unknown[] = [String, Number, Boolean, Object, Date];

function isOwnClass(type: unknown): type is Type {
  return typeof type === 'function' && 'prototype' in type && !BUILT_IN.includes(type);
}

interface FieldSchema {
  readonly type?: unknown;
}
/** What Nest's plugin for the compiler adds to a class: its fields or its handlers, with their types. */
interface Compiled {
  readonly _OPENAPI_METADATA_FACTORY?: () => Readonly<Record<string, FieldSchema>>;
}

export function compiledPartsOf(type: Type): ReturnType<NonNullable<Compiled['_OPENAPI_METADATA_FACTORY']>> {
  return (type as Compiled)._OPENAPI_METADATA_FACTORY?.() ?? {};
}

function fieldTypes(type: Type): unknown[] {
  const { API_MODEL_PROPERTIES, API_MODEL_PROPERTIES_ARRAY } = DECORATORS;
  const prototype = type.prototype as object;
  const keys = (Reflect.getMetadata(API_MODEL_PROPERTIES_ARRAY, prototype) ?? []) as string[];
  const decorated = keys.map(
    (key) => Reflect.getMetadata(API_MODEL_PROPERTIES, prototype, key.slice(1)) as FieldSchema,
  );
  const compiled = Object.values(compiledPartsOf(type));
  // A class that is defined later is given as `type: () => Class`, a function that is called `type`.
  return [...decorated, ...compiled]
    .map(({ type: of }) => (typeof of === 'function' && of.name === 'type' ? (of as () => unknown)() : of))
    .map((of) => (Array.isArray(of) ? (of as unknown[])[0] : of));
}

/** A class that is only a schema, made once; with the fields of `base`, too. */
export function schemaClass(
  name: string,
  properties: Record<string, ApiPropertyOptions>,
  base: Type = Object,
): Type {
  const known = types.get(SCHEMA_PREFIX + name);
  if (known) return known;
  const schema = { [name]: class extends base {} }[name] as Type;
  for (const [key, options] of Object.entries(properties))
    ApiProperty(options)(schema.prototype as object, key);
  nameSchema(schema);
  return schema;
}
