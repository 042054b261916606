import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import {
  EVERY_SUCCESS,
  HEADERS,
  reasonsIn,
  refusalExamples,
  refusalReasons,
} from '../../web/refusal-responses';
import { SCHEMA_PREFIX, schemaTypes } from '../../web/schema-names';
import { JSON_TYPE, type ResponseObject, type Operation } from './finish-document';

type Schema = Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>;
type Schemas = Record<string, Schema>;

/** Keeps once, and refers to, what several operations say; in the document of a host there is no place to keep it. */
export function shareParts(document: OpenAPIObject): OpenAPIObject {
  const { components = {} } = document;
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item) as Operation[]);
  const parameters = operations.flatMap(({ parameters = [] }) => parameters);
  const answers = operations.flatMap(({ responses }) => Object.entries(responses));
  const parts = {
    headers: HEADERS,
    examples: refusalExamples(),
    parameters: repeated(parameters.map((each) => ['name' in each ? each.name : '', each])),
    responses: repeated(
      answers.map(([status, answer = {} as ResponseObject]) => [nameOf(status, answer), answer]),
    ),
  };
  const refs = new Map(
    Object.entries(parts).flatMap(([kind, all]) =>
      Object.entries(all).map(([name, each]) => [JSON.stringify(each), `#/components/${kind}/${name}`]),
    ),
  );
  const share = (value: unknown, isPart = false): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const $ref = isPart ? undefined : refs.get(JSON.stringify(value));
    if ($ref !== undefined) return { $ref };
    if (Array.isArray(value)) return value.map((each) => share(each));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, share(each)]));
  };
  const shared = Object.entries(parts.responses).map(([name, each]) => [name, share(each, true)]);
  return {
    ...document,
    paths: share(document.paths) as OpenAPIObject['paths'],
    components: {
      ...components,
      schemas: inherited(withReasons(components.schemas as Schemas)),
      ...parts,
      responses: Object.fromEntries(shared) as Record<string, ResponseObject>,
    },
  };
}

/** What stands in several operations, by name; of two with the same name, the one that stands there more often. */
function repeated<T>(named: readonly (readonly [string, T])[]): Record<string, T> {
  const found = new Map<string, { name: string; part: T; count: number }>();
  for (const [name, part] of named) {
    const text = JSON.stringify(part);
    found.set(text, { name, part, count: (found.get(text)?.count ?? 0) + 1 });
  }
  const often = [...found.values()].filter(({ name, count }) => count > 1 && name !== '');
  // The last one of a name stays.
  const byName = new Map(often.sort((a, b) => a.count - b.count).map(({ name, part }) => [name, part]));
  return Object.fromEntries([...byName].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Refusals that are shared are named for their reasons; a success for what it holds, and for the headers that not all have. */
function nameOf(status: string, answer: ResponseObject): string {
  if (status === '304') return 'NotModified';
  if (status === 'default') return 'Refused';
  if ('$ref' in answer) return '';
  if (status !== '200') return reasonsIn(answer.description).join('-');
  const { $ref = '' } = (answer.content?.[JSON_TYPE]?.schema ?? {}) as { $ref?: string };
  const [, data = ''] = new RegExp(`/${SCHEMA_PREFIX}(\\w+)Envelope$`).exec($ref) ?? [];
  const usual: readonly string[] = EVERY_SUCCESS;
  const own = Object.keys(answer.headers ?? {}).filter((name) => !usual.includes(name));
  return data && [data, ...own].join('-');
}

/** All reasons there are: clients that are made from the document have a type for them. */
function withReasons(schemas: Schemas): Schemas {
  const name = `${SCHEMA_PREFIX}Refusal`;
  const { properties, ...rest } = schemas[name] ?? {};
  const reason = { ...properties?.reason, enum: refusalReasons() };
  return { ...schemas, [name]: { ...rest, properties: { ...properties, reason } } };
}

/** The schemas by name. They inherit as their classes do. */
function inherited(schemas: Schemas): Schemas {
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, schema]) => {
      const $ref = getSchemaPath(Object.getPrototypeOf(schemaTypes.get(name) ?? Object) as () => void);
      const base = schemas[$ref.split('/').at(-1) ?? ''];
      return [name, base ? { allOf: [{ $ref }, without(base, schema)] } : schema];
    }),
  );
}

/** What a schema adds to that of its base. */
function without(base: Schema, { type, properties = {}, required = [] }: Schema): Schema {
  const own = Object.entries(properties).filter(([key]) => !(key in (base.properties ?? {})));
  const ownRequired = required.filter((key) => !base.required?.includes(key));
  return {
    ...(type !== undefined && { type }),
    ...(ownRequired.length > 0 && { required: ownRequired }),
    properties: Object.fromEntries(own),
  };
}
