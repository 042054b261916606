import { getSchemaPath } from '@nestjs/swagger';
import { AuthErrors } from '../tenancy/access.errors';
import { DatabaseErrors } from '../database/database.errors';
import { failure } from './envelope';
import { Refusal, type ErrorRow, type RefusalFactory } from '../errors/refusal';
import { HttpErrors } from '../errors/http.errors';
import { FieldProblemDto } from './refusal.dto';
import { ANY_ID } from './view-fields';
import { NOT_SERVED } from '../tenancy/tenant-access';

type Rows = readonly ErrorRow[];
interface Reference {
  readonly $ref: string;
}
type Header = Record<string, Reference>;

/** A refused answer as OpenAPI describes it. */
export interface RefusalResponse {
  readonly description: string;
  readonly headers: Header;
  readonly content: Record<string, object>;
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

/** What an operation for callers with a token may answer beside. */
const SIGNED_IN = rowsOf([...Object.values(AuthErrors), ...Object.values(NOT_SERVED)]);

/** Refused before the operation is known, or for what hardly anybody sends. */
const BEFORE = rowsOf([
  HttpErrors.TIMEOUT,
  HttpErrors.TOO_LARGE,
  HttpErrors.MEDIA_TYPE,
  HttpErrors.EXPECTATION,
  HttpErrors.HEADERS_TOO_LARGE,
]);

const COMMON = [...ANYONE, ...SIGNED_IN];

/** The names under which documents keep the refusals that are the same for many operations. */
const SHARED = new Map<number, string>([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [413, 'BodyTooLarge'],
  [415, 'UnsupportedMediaType'],
  [429, 'RateLimited'],
  [500, 'InternalError'],
  [503, 'Unavailable'],
]);

/** The refusals of an operation, by status: those that it shares with all others only by name. */
export function refusalResponses(
  own: readonly RefusalFactory[],
  isOpen: boolean,
): Record<string, RefusalResponse | Reference> {
  const ownRows = rowsOf(own);
  const common = isOpen ? ANYONE : COMMON;
  const rows = [...common, ...ownRows.filter((row) => !common.includes(row))];
  const statuses = [...new Set(rows.map(({ status }) => status))].sort();
  const entries = statuses.map((status) => {
    const name = ownRows.some((row) => row.status === status) ? undefined : SHARED.get(status);
    const response = name ? refTo('responses', name) : describe(rows.filter((row) => row.status === status));
    return [String(status), response] as const;
  });
  return Object.fromEntries([...entries, ['default', refTo('responses', 'Refused')]]);
}

/** What the document keeps once for all operations: the refusals that they share, and an example of every one. */
export function sharedComponents(): {
  responses: Record<string, RefusalResponse>;
  examples: Record<string, { summary: string; value: object }>;
} {
  const byName = [...SHARED].map(
    ([status, name]) => [name, describe(COMMON.filter((row) => row.status === status))] as const,
  );
  const responses = Object.fromEntries([...byName, ['Refused', describe(BEFORE)]]);
  return { responses, examples: Object.fromEntries([...described].map((row) => [row.reason, example(row)])) };
}

function example(row: ErrorRow): { summary: string; value: object } {
  return { summary: row.en, value: failure(exampleOf(row), REQUEST_ID, 'zh') };
}

/** Every row that an operation or the shared part has described. */
const described = new Set<ErrorRow>();
const REQUEST_ID = '7b0f6c52-1d7c-4a52-9d3e-5a1f0b8f2a11';

/** Some refusals always name what is at fault; their examples do too. */
function exampleOf(row: ErrorRow): Refusal {
  if (row === HttpErrors.INVALID.row) {
    const message = {
      zh: 'ID 必须为十进制整数，且不超过 2^53-1',
      en: 'must be a decimal id of at most 2^53-1',
    };
    return new Refusal(row, { fields: [{ field: 'parentId', message }] });
  }
  return new Refusal(row, row.ids ? { ids: row.ids } : {});
}

function describe(rows: Rows): RefusalResponse {
  for (const row of rows) described.add(row);
  const examples = Object.fromEntries(rows.map(({ reason }) => [reason, refTo('examples', reason)]));
  return {
    description: rows.map((row) => `\`${row.reason}\`: ${row.en}`).join('\n\n'),
    headers: headersOf(rows),
    content: { 'application/json': { schema: schemaOf(rows), examples } },
  };
}

/** The envelope with exactly these reasons. */
function schemaOf(rows: Rows): object {
  const code = { type: 'integer', format: 'int32', enum: [...new Set(rows.map(({ status }) => status))] };
  const hasFields = rows.some((row) => row.field !== undefined || row === HttpErrors.INVALID.row);
  const data = {
    reason: { type: 'string', enum: rows.map(({ reason }) => reason) },
    requestId: { type: 'string' },
    ...(hasFields && { fields: { type: 'array', items: { $ref: getSchemaPath(FieldProblemDto) } } }),
    ...(rows.some(({ ids }) => ids) && { ids: { type: 'array', items: ANY_ID } }),
  };
  return objectOf({ code, msg: { type: 'string' }, data: objectOf(data, ['reason', 'requestId']) });
}

function objectOf(properties: object, required = Object.keys(properties)): object {
  return { type: 'object', required, properties };
}

function headersOf(rows: Rows): Header {
  return {
    ...header('X-Request-Id'),
    ...(rows.some(({ status }) => status === 429 || status === 503) && header('Retry-After')),
    ...(rows.includes(HttpErrors.TOO_MANY.row) && RATE_LIMIT_HEADERS),
    ...(rows.some(({ status }) => status === 401) && header('WWW-Authenticate')),
  };
}

/** How far a caller is from the limit. */
export const RATE_LIMIT_HEADERS = {
  ...header('RateLimit-Limit'),
  ...header('RateLimit-Remaining'),
  ...header('RateLimit-Reset'),
};

/** A header that the document describes once. */
export function header(name: string): Header {
  return { [name]: refTo('headers', name) };
}

function refTo(kind: 'responses' | 'headers' | 'examples', name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` };
}

function rowsOf(factories: readonly RefusalFactory[]): ErrorRow[] {
  return factories.map(({ row }) => row);
}
