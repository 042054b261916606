import type { Type } from '@nestjs/common';
import {
  ApiProperty,
  ApiSchema,
  getSchemaPath,
  type ApiPropertyOptions,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { DatabaseErrors } from '../database/database.errors';
import { HttpErrors } from '../errors/http.errors';
import { Refusal, type ErrorRow, type RefusalFactory } from '../errors/refusal';
import { AuthErrors } from '../tenancy/access.errors';
import { NOT_SERVED } from '../tenancy/tenant-access';
import { failure } from './envelope';
import { FieldProblemDto, RefusalEnvelope } from './refusal.dto';
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
  // The service always sends it; a host may not.
  'X-Request-Id': {
    description: 'Yours if you sent one, otherwise generated; it is in the log too.',
    schema: TEXT,
  },
  Location: always('The path of the new resource.', '/system/dept-api/1'),
  ETag: always('For `If-Match` and `If-None-Match`.', '"1"'),
  'X-Change-Cursor': {
    description:
      'For administrators: send it as `after` to `GET /system/change-api` to follow what changes from here on.',
    schema: TEXT,
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: TEXT,
    example: 'true',
  },
  'Retry-After': { description: 'Seconds to wait.', schema: WHOLE, example: 1 },
  'WWW-Authenticate': always('`Bearer`'),
  'Content-Disposition': always('The name of the file.'),
  'RateLimit-Limit': { description: 'Requests a minute, where limits are on.', schema: WHOLE },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: WHOLE },
  'RateLimit-Reset': { description: 'Seconds until the count starts again.', schema: WHOLE },
};

export type Answer = NonNullable<OpenAPIObject['paths'][string]['get']>['responses'][string];
type Header = (typeof HEADERS)[keyof typeof HEADERS];

/** These headers, each described in place: a host's document has nowhere else to keep them. */
export function headers(...names: (keyof typeof HEADERS)[]): Record<string, Header> {
  return Object.fromEntries(names.map((name) => [name, HEADERS[name]]));
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

/** The names of refusals that are the same for many operations. */
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

/** An answer, and the class that is its schema. */
interface Described {
  readonly answer: Answer;
  readonly model: Type;
}

/** The refusals of an operation, by status. */
export function refusalResponses(
  operationId: string,
  factories: readonly RefusalFactory[],
  isOpen: boolean,
): ReadonlyMap<number | 'default', Described> {
  const own = rowsOf(factories);
  const rows = [...new Set([...(isOpen ? ANYONE : COMMON), ...own])];
  const found = new Map<number | 'default', Described>([['default', describe(BEFORE, RefusalEnvelope)]]);
  for (const status of new Set(rows.map((row) => row.status).sort())) {
    const shared = own.some((row) => row.status === status) ? undefined : SHARED[status];
    const name = shared ?? `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}${status}`;
    found.set(status, describeStatus(name, shared === undefined ? rows : COMMON, status));
  }
  return found;
}

/** What the document of the service keeps once for all operations: the refusals that they share, and an example of every one. */
export function sharedAnswers(): { responses: Record<string, Answer>; examples: Record<string, object> } {
  const responses: Record<string, Answer> = {};
  for (const [status, name] of Object.entries(SHARED))
    responses[name] = describeStatus(name, COMMON, Number(status)).answer;
  responses.Refused = describe(BEFORE, RefusalEnvelope).answer;
  // Sorted: the order in which modules are loaded must not change the document.
  const rows = [...described].sort((a, b) =>
    a.reason === b.reason ? a.status - b.status : a.reason < b.reason ? -1 : 1,
  );
  const examples: Record<string, object> = {};
  // A reason with two statuses has two examples.
  for (const row of rows)
    examples[row.reason in examples ? `${row.reason}_${row.status}` : row.reason] = exampleOf(row);
  return { responses, examples };
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
    ...(row.available !== undefined && { available: row.available }),
  };
  return { summary: row.en, value: failure(new Refusal(row, details), REQUEST_ID, 'zh') };
}

function describeStatus(name: string, all: readonly ErrorRow[], status: number): Described {
  const rows = all.filter((row) => row.status === status);
  return describe(rows, envelopeWith(`${name}Refusal`, rows));
}

function describe(rows: readonly ErrorRow[], model: Type): Described {
  for (const row of rows) described.add(row);
  const statuses = rows.map(({ status }) => status);
  const examples = Object.fromEntries(rows.map((row) => [row.reason, exampleOf(row)]));
  const answer = {
    description: rows.map((row) => `\`${row.reason}\`: ${row.en}`).join('\n\n'),
    headers: {
      ...headers('X-Request-Id'),
      ...((statuses.includes(429) || statuses.includes(503)) && headers('Retry-After')),
      ...(rows.includes(HttpErrors.TOO_MANY.row) && RATE_LIMIT_HEADERS),
      ...(statuses.includes(401) && headers('WWW-Authenticate')),
    },
    content: { 'application/json': { schema: { $ref: getSchemaPath(model) }, examples } },
  };
  return { answer, model };
}

/** The envelope with exactly these reasons, as a class: documents and generated clients share what has a name. */
function envelopeWith(name: string, rows: readonly ErrorRow[]): Type {
  const hasFields = rows.some((row) => row.field !== undefined || row === HttpErrors.INVALID.row);
  const [reason, ...more] = rows.map((row) => row.reason);
  // Generators stumble over lists of one.
  const reasons = more.length > 0 ? { enum: [reason, ...more] } : { example: reason };
  return schemaClass(name, {
    code: { type: 'integer', format: 'int32', example: rows[0]?.status },
    msg: { type: 'string' },
    data: {
      type: schemaClass(`${name}Data`, {
        reason: { type: 'string', ...reasons },
        requestId: { type: 'string' },
        ...(hasFields && { fields: { type: FieldProblemDto, isArray: true, required: false } }),
        ...(rows.some(({ ids }) => ids) && {
          ids: { type: 'array', items: ANY_ID, required: false },
        }),
        ...(rows.some(({ available }) => available !== undefined) && {
          available: { type: 'integer', format: 'int64', required: false },
        }),
      }),
    },
  });
}

const schemaClasses = new Map<string, Type>();

/** A class that is only a schema, made once. */
export function schemaClass(name: string, properties: Record<string, ApiPropertyOptions>): Type {
  const known = schemaClasses.get(name);
  if (known) return known;
  @ApiSchema({ name })
  class Schema {}
  for (const [key, options] of Object.entries(properties)) ApiProperty(options)(Schema.prototype, key);
  schemaClasses.set(name, Schema);
  return Schema;
}
