import type { OpenAPIObject } from '@nestjs/swagger';
import { HEADERS, headers, refusalExamples } from '../../web/refusal-responses';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type Parameter = NonNullable<Operation['parameters']>[number];
type ResponseObject = NonNullable<Operation['responses'][string]>;
type Schema = Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>;

/** In this order people try them out. */
const METHODS = ['post', 'get', 'put', 'patch', 'delete'] as const;
const JSON_TYPE = 'application/json';

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the version you have: 304 when it is still current.',
  schema: { type: 'string' },
};
/** The token endpoint ignores what it does not know, as RFC 6749 wants it. */
const LENIENT = ['token'];
const PREFER: Parameter = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    '`handling=strict` refuses fields and parameters that are not known here. `handling=lenient` ignores them, and `X-Ignored-Fields` names them.',
  schema: { type: 'string', enum: ['handling=strict', 'handling=lenient'] },
};
const NOT_MODIFIED: ResponseObject = {
  description: 'Not modified: the version in `If-None-Match` is still current.',
  headers: headers('X-Request-Id', 'ETag'),
};

/** Adds what follows from an operation's method and parameters, and puts everything into one order. */
export function finishDocument(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(document.paths).sort(([a], [b]) => (placeOf(a) < placeOf(b) ? -1 : 1));
  const { openapi, servers = [], tags = [], components = {} } = document;
  const { contact: _, ...info } = document.info;
  return {
    openapi,
    info,
    servers,
    tags,
    paths: Object.fromEntries(paths.map(([path, item]) => [path, finishPath(item)])),
    components,
  };
}

/** By name; what may delete or end what the others work on comes last, and what puts it back after that. */
function placeOf(path: string): string {
  return path.replace(/\{id\}$|logout$/, '~').replace(/\{id\}\/restore$/, '~~');
}

function finishPath(item: PathItem): PathItem {
  return Object.fromEntries(
    METHODS.flatMap((method) => (item[method] ? [[method, finishOperation(method, item[method])]] : [])),
  );
}

function finishOperation(method: string, operation: Operation): Operation {
  const { requestBody, security = [], parameters: own = [], responses, ...rest } = operation;
  const { 200: success, ...refusals } = responses;
  const isRead =
    method === 'get' && JSON_TYPE in ((success as { content?: object } | undefined)?.content ?? {});
  const isReplayed = own.some((parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key');
  const isLenient = LENIENT.includes(operation.operationId ?? '');
  const parameters = [
    ...own.map(withoutNull),
    ...(isRead ? [IF_NONE_MATCH] : []),
    ...(isLenient ? [] : [PREFER]),
  ];
  return {
    ...rest,
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    security,
    responses: {
      ...(success && { 200: withHeaders(success, isRead && 'ETag', isReplayed && 'Idempotent-Replayed') }),
      ...(isRead && { 304: NOT_MODIFIED }),
      ...refusals,
    },
  };
}

function withHeaders(
  answer: ResponseObject,
  ...names: (Parameters<typeof headers>[0] | false)[]
): ResponseObject {
  if ('$ref' in answer) return answer;
  return { ...answer, headers: { ...answer.headers, ...headers(...names.filter((name) => name !== false)) } };
}

/** Keeps once, and refers to, what several operations say; in the document of a host each operation is complete by itself. */
export function shareParts(document: OpenAPIObject): OpenAPIObject {
  const examples = refusalExamples();
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item) as Operation[]);
  const parts = {
    headers: HEADERS,
    examples,
    parameters: repeated(
      operations.flatMap(({ parameters = [] }) =>
        parameters.map((each) => ['name' in each ? each.name : '', each]),
      ),
    ),
    responses: repeated(
      operations.flatMap(({ responses }) =>
        Object.entries(responses).map(([status, answer = {} as ResponseObject]) => [
          nameOf(status, answer),
          answer,
        ]),
      ),
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
      ...withReasons(document.components, examples),
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

/** Answers that are shared are named for their reasons. */
function nameOf(status: string, answer: ResponseObject): string {
  if (status === '304') return 'NotModified';
  if (status === 'default') return 'Refused';
  if (status === '200' || '$ref' in answer) return '';
  return Object.keys(answer.content?.[JSON_TYPE]?.examples ?? {}).join('-');
}

/** All reasons there are: clients that are made from the document have a type for them. */
function withReasons(components: OpenAPIObject['components'], examples: object): object {
  const { RefusalDto, ...schemas } = components?.schemas ?? {};
  const { properties = {}, ...rest } = (RefusalDto ?? {}) as Schema;
  const known = new Set(
    Object.values(examples as Record<string, { value: { data: { reason: string } } }>).map(
      ({ value }) => value.data.reason,
    ),
  );
  const reason = { ...properties.reason, enum: [...known] };
  return {
    ...components,
    schemas: { ...schemas, RefusalDto: { ...rest, properties: { ...properties, reason } } },
  };
}

/** An address has no null: what may be left out is left out. */
function withoutNull(parameter: Parameter): Parameter {
  if (!('schema' in parameter) || '$ref' in parameter.schema) return parameter;
  const { nullable: _, ...schema } = parameter.schema;
  if (schema.enum) schema.enum = schema.enum.filter((each) => each !== null);
  return { ...parameter, schema };
}
