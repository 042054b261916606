import { applyDecorators, Injectable, RequestMethod, type Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { ApiResponse, DECORATORS, type OpenAPIObject } from '@nestjs/swagger';
import { DatabaseErrors } from '../database/database.errors';
import { HttpErrors } from '../errors/http.errors';
import { Refusal, type ErrorRow, type RefusalFactory } from '../errors/refusal';
import { AuthErrors } from '../tenancy/access.errors';
import { NOT_SERVED } from '../tenancy/tenant-access';
import { failure } from './envelope';
import { RefusalEnvelope } from './refusal.dto';
import { compiledPartsOf, schemaRef } from './schema-names';

const header =
  (of: { readonly required?: true; readonly schema: object }) =>
  (description: string, more: object = {}) => ({ description, ...of, ...more });
const text = header({ schema: { type: 'string' } });
const number = header({ schema: { type: 'integer', format: 'int32' } });
const always = header({ required: true, schema: { type: 'string' } });

/** The headers of answers, described once. */
export const HEADERS = {
  // The service always sends it; a host may not.
  'X-Request-Id': text('Yours if you sent one, otherwise generated; it is in the log too.'),
  Location: always('The path of the new resource.', { example: '/system/dept-api/1' }),
  ETag: always('For `If-Match` and `If-None-Match`.', { example: '"1"' }),
  'X-Change-Cursor': text(
    'For administrators: send it as `after` to `GET /system/change-api` to follow what changes from here on.',
  ),
  'Idempotent-Replayed': text(
    '`true` when this is the answer of an earlier request with the same `Idempotency-Key`, or the same `key` of a quota.',
    { example: 'true' },
  ),
  'X-Ignored-Fields': text(
    'Fields and parameters that were sent, but are not known here: percent-encoded, separated by commas, 20 at most.',
  ),
  'Retry-After': number('Seconds to wait.', { example: 1 }),
  'WWW-Authenticate': always('`Bearer`'),
  'Content-Disposition': always('The name of the file.'),
  'RateLimit-Limit': number('Requests a minute, where limits are on.'),
  'RateLimit-Remaining': number('Requests left in this minute.'),
  'RateLimit-Reset': number('Seconds until the count starts again.'),
};

export type ResponseObject = NonNullable<OpenAPIObject['paths'][string]['get']>['responses'][string];
type Header = (typeof HEADERS)[keyof typeof HEADERS];

/** These headers, each described in place: a host's document has nowhere else to keep them. */
export function headers(...names: (keyof typeof HEADERS)[]): Record<string, Header> {
  return Object.fromEntries(names.map((name) => [name, HEADERS[name]]));
}

/** The headers of every success. The document of a host does not repeat them for each operation. */
export const EVERY_SUCCESS = ['X-Request-Id', 'X-Ignored-Fields'] as const;

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

type Refusals = ReadonlyMap<number | 'default', ResponseObject>;

/** What each operation may refuse, by its id. */
const refusedBy = new Map<string, readonly ErrorRow[]>();

/**
 * The refusals that are an operation's own, by status, and one answer for all others. For the document of a host, in which
 * no two operations can share an answer: there they are as short as they can be. The document of the service has them whole.
 */
export function refusalResponses(
  operationId: string,
  factories: readonly RefusalFactory[],
  isOpen: boolean,
): Refusals {
  const own = rowsOf(factories);
  refusedBy.set(operationId, [...INPUT, ...(isOpen ? [] : ACCESS), ...own]);
  const brief = (description: string) => ({
    description,
    content: { 'application/json': { schema: schemaRef(RefusalEnvelope) } },
  });
  const found = new Map<number | 'default', ResponseObject>([['default', brief('Any other refusal')]]);
  for (const { status } of own) {
    const reasons = own.filter((row) => row.status === status).map(({ reason }) => `\`${reason}\``);
    found.set(status, brief([...new Set(reasons)].join(', ')));
  }
  return found;
}

/** All refusals of an operation by status, with what each means, headers and examples; `default` are those of any operation. */
export function wholeRefusals(operationId: string | undefined): Refusals | undefined {
  const own = refusedBy.get(operationId ?? '');
  if (!own) return undefined;
  const found = new Map<number | 'default', ResponseObject>([['default', describe(DEFAULT)]]);
  for (const status of new Set(own.map((row) => row.status).sort())) {
    const rows = [...own, ...DEFAULT].filter((row) => row.status === status);
    found.set(status, describe([...new Set(rows)]));
  }
  return found;
}

/** The examples of refusals that operations show, by their names in the document of the service. */
export function refusalExamples(): Record<string, object> {
  const examples: Record<string, object> = {};
  // A reason with two statuses has two examples.
  for (const row of sorted(shown))
    examples[row.reason in examples ? `${row.reason}_${row.status}` : row.reason] = exampleOf(row);
  return examples;
}

/** All reasons of refusals that operations have. */
export function refusalReasons(): string[] {
  return [...new Set(sorted(described).map(({ reason }) => reason))];
}

/** The order in which modules are loaded must not change the document. */
function sorted(rows: ReadonlySet<ErrorRow>): ErrorRow[] {
  return [...rows].sort((a, b) =>
    a.reason === b.reason ? a.status - b.status : a.reason < b.reason ? -1 : 1,
  );
}

const described = new Set<ErrorRow>();
const shown = new Set<ErrorRow>();
const REQUEST_ID = '7b0f6c52-1d7c-4a52-9d3e-5a1f0b8f2a11';
const FIELD = {
  field: 'parentId',
  message: { zh: 'ID 必须为十进制整数，且不超过 2^53-1', en: 'must be a decimal id of at most 2^53-1' },
};

/** Some refusals always name what is at fault; their examples do too. */
function refusalOf(row: ErrorRow): Refusal {
  return new Refusal(row, {
    ...(row === HttpErrors.INVALID.row && { fields: [FIELD] }),
    ...(row.ids && { ids: row.ids }),
    ...(row.available !== undefined && { available: row.available }),
    ...(row.permission !== undefined && { permission: row.permission }),
  });
}

function exampleOf(row: ErrorRow): object {
  return { value: failure(refusalOf(row), REQUEST_ID, 'zh') };
}

/** Of each refusal that tells more than its reason; otherwise of the first. */
function examplesOf(rows: readonly ErrorRow[]): Record<string, object> {
  const telling = rows.filter((row) => Object.keys(refusalOf(row).details).length > 0);
  const examples = telling.length > 0 ? telling : rows.slice(0, 1);
  for (const row of examples) shown.add(row);
  return Object.fromEntries(examples.map((row) => [row.reason, exampleOf(row)]));
}

/** The reasons that the description of an answer names. */
export function reasonsIn(description: string): string[] {
  return [...description.matchAll(/`([A-Z_]+)`: /g)].map(([, reason = '']) => reason);
}

function descriptionOf(rows: readonly ErrorRow[]): string {
  const bullet = rows.length > 1 ? '- ' : '';
  return rows.map((row) => `${bullet}\`${row.reason}\`: ${row.en}`).join('\n');
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
    description: descriptionOf(rows),
    ...(Object.keys(named).length > 0 && { headers: named }),
    content: { 'application/json': { schema: schemaRef(RefusalEnvelope), examples: examplesOf(rows) } },
  };
}

/** What is refused wherever the caller must be of a tenant that is served. */
export const CALLER_REFUSALS: readonly RefusalFactory[] = [
  AuthErrors.TOKEN_MISSING,
  ...Object.values(NOT_SERVED),
];

const MAY_REFUSE = Symbol('mayRefuse');

/** On a host's controller or handler: what a decorator of ours may refuse there, for the host's document. */
export function MayRefuse(...factories: RefusalFactory[]): ClassDecorator & MethodDecorator {
  return applyDecorators((target: object, _?: unknown, method?: { readonly value?: object }): void => {
    const marked = method?.value ?? target;
    Reflect.defineMetadata(MAY_REFUSE, [...refusedAt(marked), ...factories], marked);
  });
}

function refusedAt(marked: object): readonly RefusalFactory[] {
  return (Reflect.getMetadata(MAY_REFUSE, marked) ?? []) as readonly RefusalFactory[];
}

/**
 * Adds what decorators of ours refuse to the documentation of a host's handlers. It happens when the application is made: the host's
 * own decorators have run by then, and its document is not made yet. The form of these answers is up to the host's filters.
 */
@Injectable()
export class HostRefusals {
  constructor(modules: ModulesContainer) {
    for (const { controllers } of modules.values())
      for (const { metatype } of controllers.values())
        if (typeof metatype === 'function') documentRefusals(metatype as Type);
  }
}

function documentRefusals(controller: Type): void {
  const handlers = controller.prototype as Readonly<Record<string, object | undefined>>;
  for (const name of new MetadataScanner().getAllMethodNames(handlers)) {
    const handler = handlers[name] ?? {};
    const rows = [...new Set(rowsOf([...refusedAt(controller), ...refusedAt(handler)]))];
    if (rows.length === 0) continue;
    documentSuccess(controller, name, handler);
    const responses = Reflect.getMetadata(DECORATORS.API_RESPONSE, handler) as Responses;
    for (const { status } of rows) {
      const { description = '', ...others } = responses[status] ?? {};
      const ours = descriptionOf(rows.filter((row) => row.status === status));
      // Another application in this process may have the same handlers.
      if (!description.includes(ours))
        responses[status] = { ...others, description: `${description}\n\n${ours}`.trimStart() };
    }
  }
}

type Responses = Record<number, { readonly description?: string }>;

/** Swagger does so by itself for a handler that tells nothing, but not for one that tells of refusals. */
function documentSuccess(controller: Type, name: string, handler: object): void {
  if (Reflect.hasMetadata(DECORATORS.API_RESPONSE, handler)) return;
  const isPost = Reflect.getMetadata('method', handler) === RequestMethod.POST;
  const status = (Reflect.getMetadata('__httpCode__', handler) ?? (isPost ? 201 : 200)) as number;
  const { type } = compiledPartsOf(controller)[name] ?? {};
  ApiResponse({ status, ...(type !== undefined && { type: type as Type }) })({}, name, { value: handler });
}
