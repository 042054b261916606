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
import { RefusalEnvelope } from './refusal.dto';

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
    description:
      '`true` when this is the answer of an earlier request with the same `Idempotency-Key`, or the same `key` of a quota.',
    schema: TEXT,
    example: 'true',
  },
  'X-Ignored-Fields': {
    description:
      'Fields and parameters that were sent, but are not known here: percent-encoded, separated by commas, 20 at most.',
    schema: TEXT,
  },
  'Retry-After': { description: 'Seconds to wait.', schema: WHOLE, example: 1 },
  'WWW-Authenticate': always('`Bearer`'),
  'Content-Disposition': always('The name of the file.'),
  'RateLimit-Limit': { description: 'Requests a minute, where limits are on.', schema: WHOLE },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: WHOLE },
  'RateLimit-Reset': { description: 'Seconds until the count starts again.', schema: WHOLE },
};

export type ResponseObject = NonNullable<OpenAPIObject['paths'][string]['get']>['responses'][string];
type Header = (typeof HEADERS)[keyof typeof HEADERS];

/** These headers, each described in place: a host's document has nowhere else to keep them. */
export function headers(...names: (keyof typeof HEADERS)[]): Record<string, Header> {
  return Object.fromEntries(names.map((name) => [name, HEADERS[name]]));
}

const RATE_LIMIT_HEADERS = headers('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');

function rowsOf(factories: readonly RefusalFactory[]): ErrorRow[] {
  return factories.map(({ row }) => row);
}

/** Refused before the operation is known, or by what is around every operation. */
const DEFAULT = rowsOf([
  HttpErrors.TIMEOUT,
  HttpErrors.TOO_LARGE,
  HttpErrors.MEDIA_TYPE,
  HttpErrors.EXPECTATION,
  HttpErrors.HEADERS_TOO_LARGE,
  HttpErrors.TOO_MANY,
  HttpErrors.INTERNAL,
  DatabaseErrors.UNAVAILABLE,
  HttpErrors.OVERLOADED,
]);
/** What any operation may answer. */
const INPUT = rowsOf([HttpErrors.INVALID, HttpErrors.MALFORMED]);
/** What an operation may answer that wants a token. */
const ACCESS = rowsOf([...Object.values(AuthErrors), ...Object.values(NOT_SERVED)]);

/** The refusals of an operation, by status; `default` are those that have nothing to do with it. */
export function refusalResponses(
  factories: readonly RefusalFactory[],
  isOpen: boolean,
): ReadonlyMap<number | 'default', ResponseObject> {
  const own = [...INPUT, ...(isOpen ? [] : ACCESS), ...rowsOf(factories)];
  const found = new Map<number | 'default', ResponseObject>([['default', describe(DEFAULT)]]);
  for (const status of new Set(own.map((row) => row.status).sort())) {
    const rows = [...own, ...DEFAULT].filter((row) => row.status === status);
    found.set(status, describe([...new Set(rows)]));
  }
  return found;
}

/** An example of every refusal that an operation has described, by its name in the document of the service. */
export function refusalExamples(): Record<string, object> {
  // Sorted: the order in which modules are loaded must not change the document.
  const rows = [...described].sort((a, b) =>
    a.reason === b.reason ? a.status - b.status : a.reason < b.reason ? -1 : 1,
  );
  const examples: Record<string, object> = {};
  // A reason with two statuses has two examples.
  for (const row of rows)
    examples[row.reason in examples ? `${row.reason}_${row.status}` : row.reason] = exampleOf(row);
  return examples;
}

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

function describe(rows: readonly ErrorRow[]): ResponseObject {
  for (const row of rows) described.add(row);
  const statuses = rows.map(({ status }) => status);
  const named = {
    ...((statuses.includes(429) || statuses.includes(503)) && headers('Retry-After')),
    ...(rows.includes(HttpErrors.TOO_MANY.row) && RATE_LIMIT_HEADERS),
    ...(statuses.includes(401) && headers('WWW-Authenticate')),
  };
  return {
    description: rows.map((row) => `\`${row.reason}\`: ${row.en}`).join('\n\n'),
    ...(Object.keys(named).length > 0 && { headers: named }),
    content: {
      'application/json': {
        schema: { $ref: getSchemaPath(RefusalEnvelope) },
        examples: Object.fromEntries(rows.map((row) => [row.reason, exampleOf(row)])),
      },
    },
  };
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
