import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { DatabaseErrors } from '../database/database.errors';
import { HttpErrors } from '../errors/http.errors';
import { Refusal, type ErrorRow, type RefusalFactory } from '../errors/refusal';
import { AuthErrors } from '../tenancy/access.errors';
import { NOT_SERVED } from '../tenancy/tenant-access';
import { failure } from './envelope';
import { FieldProblemDto } from './refusal.dto';
import { ANY_ID } from './view-fields';

const TEXT = { type: 'string' };
const WHOLE = { type: 'integer', format: 'int32' };
const always = (description: string, example?: string) => ({
  description,
  required: true,
  schema: TEXT,
  ...(example !== undefined && { example }),
});

/** The headers of answers, described once. */
export const HEADERS = {
  'X-Request-Id': always('Yours if you sent one, otherwise generated; it is in the log too.'),
  Location: always('The path of the new resource.', '/system/dept-api/1'),
  ETag: always('For `If-Match` and `If-None-Match`.', '"1"'),
  'Idempotent-Replayed': {
    description: '`true` when this is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: WHOLE, example: 1 },
  'WWW-Authenticate': always('`Bearer`'),
  'Content-Disposition': always('The name of the file.'),
  'RateLimit-Limit': { description: 'Requests a minute, where limits are on.', schema: WHOLE },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: WHOLE },
  'RateLimit-Reset': { description: 'Seconds until the count starts again.', schema: WHOLE },
};

type Responses = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>;

function refTo(kind: 'responses' | 'headers' | 'examples', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Headers that the document describes once. */
export function headers(...names: (keyof typeof HEADERS)[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));
}

export const RATE_LIMIT_HEADERS = headers('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');

function rowsOf(factories: readonly RefusalFactory[]): ErrorRow[] {
  return factories.map(({ row }) => row);
}

/** What any operation may answer. */
const ANYONE = rowsOf([
  HttpErrors.INVALID,
  HttpErrors.MALFORMED,
  HttpErrors.TOO_LARGE,
  HttpErrors.MEDIA_TYPE,
  HttpErrors.TOO_MANY,
  HttpErrors.INTERNAL,
  DatabaseErrors.UNAVAILABLE,
  HttpErrors.OVERLOADED,
]);
/** The same, for operations that want a token. */
const COMMON = [...ANYONE, ...rowsOf([...Object.values(AuthErrors), ...Object.values(NOT_SERVED)])];
/** Refused before the operation is known, or for what hardly anybody sends. */
const BEFORE = rowsOf([
  HttpErrors.TIMEOUT,
  HttpErrors.TOO_LARGE,
  HttpErrors.MEDIA_TYPE,
  HttpErrors.EXPECTATION,
  HttpErrors.HEADERS_TOO_LARGE,
]);

/** The names under which documents keep the refusals that are the same for many operations. */
const SHARED: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  413: 'BodyTooLarge',
  415: 'UnsupportedMediaType',
  429: 'RateLimited',
  500: 'InternalError',
  503: 'Unavailable',
};

/** The refusals of an operation, by status: those that it shares with all others only by name. */
export function refusalResponses(factories: readonly RefusalFactory[], isOpen: boolean): Responses {
  const own = rowsOf(factories);
  const rows = [...new Set([...(isOpen ? ANYONE : COMMON), ...own])];
  const responses: Responses = { default: refTo('responses', 'Refused') };
  for (const status of new Set(rows.map((row) => row.status).sort())) {
    const name = own.some((row) => row.status === status) ? undefined : SHARED[status];
    responses[status] = name ? refTo('responses', name) : describe(rows, status);
  }
  return responses;
}

/** What the document keeps once for all operations: the refusals that they share, and an example of every one. */
export function sharedComponents(): { responses: Responses; examples: Record<string, object> } {
  const responses: Responses = {};
  for (const [status, name] of Object.entries(SHARED)) responses[name] = describe(COMMON, Number(status));
  responses.Refused = describe(BEFORE);
  // Sorted: the order in which modules are loaded must not change the document.
  const rows = [...described].sort((a, b) => (a.reason < b.reason ? -1 : 1));
  return { responses, examples: Object.fromEntries(rows.map((row) => [row.reason, exampleOf(row)])) };
}

/** Every row that an operation or the shared part has described. */
const described = new Set<ErrorRow>();
const REQUEST_ID = '7b0f6c52-1d7c-4a52-9d3e-5a1f0b8f2a11';
const FIELD = {
  field: 'parentId',
  message: { zh: 'ID 必须为十进制整数，且不超过 2^53-1', en: 'must be a decimal id of at most 2^53-1' },
};

/** Some refusals always name what is at fault; their examples do too. */
function exampleOf(row: ErrorRow): object {
  const details = {
    ...(row === HttpErrors.INVALID.row && { fields: [FIELD] }),
    ...(row.ids && { ids: row.ids }),
  };
  return { summary: row.en, value: failure(new Refusal(row, details), REQUEST_ID, 'zh') };
}

/** These refusals, or those of them that have this status. */
function describe(all: readonly ErrorRow[], only?: number): Responses[string] {
  const rows = only === undefined ? all : all.filter(({ status }) => status === only);
  for (const row of rows) described.add(row);
  const statuses = rows.map(({ status }) => status);
  const examples = Object.fromEntries(rows.map(({ reason }) => [reason, refTo('examples', reason)]));
  return {
    description: rows.map((row) => `\`${row.reason}\`: ${row.en}`).join('\n\n'),
    headers: {
      ...headers('X-Request-Id'),
      ...((statuses.includes(429) || statuses.includes(503)) && headers('Retry-After')),
      ...(rows.includes(HttpErrors.TOO_MANY.row) && RATE_LIMIT_HEADERS),
      ...(statuses.includes(401) && headers('WWW-Authenticate')),
    },
    content: { 'application/json': { schema: schemaOf(rows), examples } },
  };
}

/** The envelope with exactly these reasons. */
function schemaOf(rows: readonly ErrorRow[]): object {
  const hasFields = rows.some((row) => row.field !== undefined || row === HttpErrors.INVALID.row);
  const data = {
    reason: { type: 'string', enum: rows.map(({ reason }) => reason) },
    requestId: { type: 'string' },
    ...(hasFields && { fields: { type: 'array', items: { $ref: getSchemaPath(FieldProblemDto) } } }),
    ...(rows.some(({ ids }) => ids) && { ids: { type: 'array', items: ANY_ID } }),
  };
  return objectOf({
    code: { type: 'integer', format: 'int32', enum: [...new Set(rows.map(({ status }) => status))] },
    msg: { type: 'string' },
    data: objectOf(data, ['reason', 'requestId']),
  });
}

function objectOf(properties: object, required = Object.keys(properties)): object {
  return { type: 'object', required, properties };
}
