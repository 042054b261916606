import type { OpenAPIObject } from '@nestjs/swagger';
import { HEADERS, headers, sharedAnswers } from '../../web/refusal-responses';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type Parameter = NonNullable<Operation['parameters']>[number];
type Answer = NonNullable<Operation['responses'][string]>;

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
const NOT_MODIFIED: Answer = {
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

/** By name; what may delete or end what the others work on comes last. */
function placeOf(path: string): string {
  return path.replace(/\{id\}$|logout$/, '~');
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
  const parameters = [...own.map(withoutNull), ...(isRead ? [IF_NONE_MATCH] : [])];
  return {
    ...rest,
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    security,
    responses: {
      ...(success && { 200: withHeaders(success, isRead && 'ETag', isReplayed && 'Idempotent-Replayed') }),
      ...(isRead && { 304: NOT_MODIFIED }),
      ...without(refusals, requestBody === undefined ? ['413', '415'] : []),
    },
  };
}

function withHeaders(answer: Answer, ...names: (Parameters<typeof headers>[0] | false)[]): Answer {
  if ('$ref' in answer) return answer;
  return { ...answer, headers: { ...answer.headers, ...headers(...names.filter((name) => name !== false)) } };
}

/** What only a body can cause is left to `default` where none is sent. */
function without(responses: Operation['responses'], left: readonly string[]): Operation['responses'] {
  return Object.fromEntries(Object.entries(responses).filter(([status]) => !left.includes(status)));
}

/** Keeps once, and refers to, what operations have in common; in the document of a host each is complete by itself. */
export function shareAnswers(document: OpenAPIObject): OpenAPIObject {
  const { responses, examples } = sharedAnswers();
  const kinds = { headers: HEADERS, examples, responses } as Record<string, Record<string, object>>;
  const refs = new Map(
    Object.entries(kinds).flatMap(([kind, all]) =>
      Object.entries(all).map(([name, each]) => [JSON.stringify(each), `#/components/${kind}/${name}`]),
    ),
  );
  const share = (value: unknown, isTop = false): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const $ref = isTop ? undefined : refs.get(JSON.stringify(value));
    if ($ref !== undefined) return { $ref };
    if (Array.isArray(value)) return value.map((each) => share(each));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, share(each)]));
  };
  const shared = Object.entries(responses).map(([name, each]) => [name, share(each, true)]);
  return {
    ...document,
    paths: share(document.paths) as OpenAPIObject['paths'],
    components: {
      ...document.components,
      responses: Object.fromEntries(shared) as never,
      examples: examples,
      headers: HEADERS,
    },
  };
}

/** An address has no null: what may be left out is left out. */
function withoutNull(parameter: Parameter): Parameter {
  if (!('schema' in parameter) || '$ref' in parameter.schema) return parameter;
  const { nullable: _, ...schema } = parameter.schema;
  if (schema.enum) schema.enum = schema.enum.filter((each) => each !== null);
  return { ...parameter, schema };
}
