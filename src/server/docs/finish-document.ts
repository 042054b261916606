import type { OpenAPIObject } from '@nestjs/swagger';
import { PERMISSION } from '../../web/operation.decorator';
import { EVERY_SUCCESS, headers, wholeRefusals } from '../../web/refusal-responses';

type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
type Body = NonNullable<Operation['requestBody']>;
type Parameter = NonNullable<Operation['parameters']>[number];
export type ResponseObject = NonNullable<Operation['responses'][string]>;

/** In this order people try them out. */
const METHODS = ['post', 'get', 'put', 'patch', 'delete'] as const;
export const JSON_TYPE = 'application/json';

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the version you have: 304 when it is still current.',
  schema: { type: 'string' },
};
/** The token endpoint ignores what it does not know, as RFC 6749 wants it. */
const LENIENT = ['token'];
const PREFER: Parameter = {
  name: 'Prefer',
  in: 'header',
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
  const { openapi, servers = [], security = [], tags = [], components = {} } = document;
  const { contact: _, ...info } = document.info;
  const usual = JSON.stringify(security);
  return {
    openapi,
    info,
    servers,
    security,
    tags,
    paths: Object.fromEntries(paths.map(([path, item]) => [path, finishPath(item, usual)])),
    components,
  };
}

/** By name; what may delete or end what the others work on comes last, and what puts it back after that. */
function placeOf(path: string): string {
  return path.replace(/\{id\}$|logout$/, '~').replace(/\{id\}\/restore$/, '~~');
}

function finishPath(item: PathItem, usualSecurity: string): PathItem {
  return Object.fromEntries(
    METHODS.flatMap((method) =>
      item[method] ? [[method, finishOperation(method, item[method], usualSecurity)]] : [],
    ),
  );
}

function finishOperation(method: string, operation: Operation, usualSecurity: string): Operation {
  const { requestBody, security: _, parameters: own = [], responses, callbacks, ...rest } = operation;
  const { 200: success, ...brief } = responses;
  const whole = wholeRefusals(operation.operationId);
  const isRead =
    method === 'get' && JSON_TYPE in ((success as { content?: object } | undefined)?.content ?? {});
  const isReplayed = own.some((parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key');
  const isLenient = LENIENT.includes(operation.operationId ?? '');
  const parameters = [
    ...own.map(finishParameter),
    ...(isRead ? [IF_NONE_MATCH] : []),
    ...(isLenient ? [] : [PREFER]),
  ];
  return {
    ...rest,
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody: finishBody(requestBody) }),
    ...securityOf(operation, usualSecurity),
    responses: {
      ...(success && {
        200: withHeaders(success, whole ? EVERY_SUCCESS : [], [
          ...(isRead ? (['ETag'] as const) : []),
          ...(isReplayed ? (['Idempotent-Replayed'] as const) : []),
        ]),
      }),
      ...(isRead && { 304: NOT_MODIFIED }),
      ...(whole ? Object.fromEntries(whole) : brief),
    },
    ...(callbacks && { callbacks }),
  };
}

/** Of OAuth2 an operation wants its permission as the scope; in this version of OpenAPI other schemes have none. */
function securityOf(operation: Operation, usual: string): Pick<Operation, 'security'> {
  const { security = [], [PERMISSION as keyof Operation]: permission } = operation;
  if (typeof permission === 'string')
    return { security: security.map((each) => ('password' in each ? { password: [permission] } : each)) };
  return JSON.stringify(security) === usual ? {} : { security };
}

type HeaderNames = Parameters<typeof headers>;

function withHeaders(
  answer: ResponseObject,
  first: readonly HeaderNames[0][],
  last: HeaderNames,
): ResponseObject {
  if ('$ref' in answer) return answer;
  const { description, headers: own, ...rest } = answer;
  const all = { ...headers(...first), ...own, ...headers(...last) };
  return { description, ...(Object.keys(all).length > 0 && { headers: all }), ...rest };
}

/** A body has one example, which needs no name. */
function finishBody(body: Body): Body {
  if ('$ref' in body) return body;
  const content = Object.entries(body.content).map(([type, { examples, ...rest }]) => [
    type,
    { ...rest, ...(examples && { example: (examples.default as { value: unknown }).value }) },
  ]);
  return { ...body, content: Object.fromEntries(content) as typeof body.content };
}

/** What may be left out says so by saying nothing, and an address has no null. */
function finishParameter(parameter: Parameter): Parameter {
  if (!('schema' in parameter) || '$ref' in parameter.schema) return parameter;
  const { name, in: place, required, schema, ...rest } = parameter;
  const { nullable: _, ...withoutNull } = schema;
  return { name, in: place, ...(required && { required }), ...rest, schema: withoutNull };
}
