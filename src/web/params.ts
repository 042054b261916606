import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader, ApiParam } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { IdempotentRequest } from '../database/idempotent-request';
import { HttpErrors } from '../errors/http.errors';
import type { Bilingual } from '../errors/refusal';
import { contextOf } from '../tenancy/request-context';
import { ID_LIST, isTextId, MAX_IDS, parseNumericId, TEXT_ID } from './field-rules';
import { NUMERIC_ID } from './id-fields';
import type { Expected } from '../database/revision';

/** The parameters of handlers: ids in the path, `If-Match` and `Idempotency-Key`, each read and documented in one. */

type Schema = Extract<Parameters<typeof ApiParam>[0], { schema: unknown }>['schema'];

function refuse(field: string, message: Bilingual): never {
  throw HttpErrors.INVALID({ fields: [{ field, message }] });
}

/** Lets the decorator of a parameter document its operation, too. */
function documented(documentation: MethodDecorator): ParameterDecorator {
  return (target, key) => {
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key !== undefined && descriptor) documentation(target, key, descriptor);
  };
}

/** Ids are all called `id`: in a document one path has one name for its places. */
function pathParam(
  transform: (value: string) => unknown,
  schema: Schema,
  description?: string,
  name = 'id',
): ParameterDecorator {
  const options = {
    name,
    schema,
    ...(description !== undefined && { description }),
    ...{ type: String, isArray: false },
  };
  return createParamDecorator(
    (_: unknown, context: ExecutionContext) =>
      transform(String(context.switchToHttp().getRequest<Request>().params[name])),
    [documented(ApiParam(options))],
  )();
}

const NOT_AN_ID = { zh: 'ID 必须为十进制整数', en: 'must be a decimal id' };
const TOO_MANY = { zh: `最多 ${MAX_IDS} 个 ID`, en: `must have at most ${MAX_IDS} ids` };
const DIFFERENT = { zh: '与路径中的 ID 不一致', en: 'differs from the id in the path' };

/** A numeric id. */
export function PathId(): ParameterDecorator {
  return pathParam((value) => parseNumericId(value) ?? refuse('id', NOT_AN_ID), {
    ...NUMERIC_ID,
    example: 1,
  });
}

/** Numeric ids separated by commas; duplicates collapse. */
export function PathIds(example: string): ParameterDecorator {
  return pathParam(
    (value) => {
      const ids = new Set(value.split(',').map((id) => parseNumericId(id) ?? refuse('ids', NOT_AN_ID)));
      return ids.size > MAX_IDS ? refuse('ids', TOO_MANY) : [...ids];
    },
    { type: 'string', pattern: ID_LIST, example },
    `One id, or up to ${MAX_IDS} different ones separated by commas: all of them, or none.`,
  );
}

/** A tenant's internal id. */
export function PathTextId(): ParameterDecorator {
  return pathParam(
    (value) => (isTextId(value) ? value : refuse('id', NOT_AN_ID)),
    { type: 'string', pattern: TEXT_ID, example: '1' },
    'The internal `id` of the tenant as the list shows it, not its code. The platform has `1`.',
  );
}

/** A text in a path, under a name of its own. */
export function PathText(of: {
  readonly name: string;
  readonly description: string;
  readonly example: string;
}): ParameterDecorator {
  const { name, description, example } = of;
  return pathParam((value) => value, { type: 'string', example }, description, name);
}

/** The id in a path, when a body does not name another. */
export function sameId<T extends number | string>(field: string, inPath: T, inBody: T | null | undefined): T {
  return inBody == null || inBody === inPath ? inPath : refuse(field, DIFFERENT);
}

const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const TAG_LIST = new RegExp(`^\\s*${TAG}(?:\\s*,\\s*${TAG})*\\s*$`);
const NOT_TAGS = {
  zh: '必须为 * 或带双引号的 ETag，多个 ETag 用逗号分隔',
  en: 'must be * or quoted entity tags separated by commas',
};

/** The tags that the header `If-Match` allows; undefined without it, or when it allows any. Weak tags match nothing. */
export const IfMatch = createParamDecorator(
  (_: unknown, context: ExecutionContext): Expected => {
    const header = context.switchToHttp().getRequest<Request>().headers['if-match'];
    if (header === undefined || header.trim() === '*') return undefined;
    return TAG_LIST.test(header) ? (header.match(new RegExp(TAG, 'g')) ?? []) : refuse('If-Match', NOT_TAGS);
  },
  [
    documented(
      ApiHeader({
        name: 'If-Match',
        description: 'The `ETag` of the version you have read: 412 when it has changed since.',
        schema: { type: 'string' },
      }),
    ),
  ],
);

const KEY_PATTERN = String.raw`^[\x20-\x7e]{1,255}$`;
const KEY = new RegExp(KEY_PATTERN);
const NOT_A_KEY = {
  zh: '必须为 1 到 255 个可打印 ASCII 字符',
  en: 'must be 1 to 255 printable ASCII characters',
};

/** The header `Idempotency-Key` of a POST with a JSON body, as what makes its unit of work happen once. */
export const IdempotencyKey = createParamDecorator(
  (_: unknown, context: ExecutionContext): IdempotentRequest | undefined =>
    idempotentRequestOf(context, ({ body }) => JSON.stringify(body ?? null)),
  [documentsIdempotencyKey()],
);

/** Documents the header, for operations that read it. */
export function documentsIdempotencyKey(): ParameterDecorator {
  return documented(
    ApiHeader({
      name: 'Idempotency-Key',
      description:
        'A unique text of your choice. For 24 hours, the same request with this key is done once and gets the same answer.',
      schema: { type: 'string', pattern: KEY_PATTERN },
    }),
  );
}

/** Undefined without the header. */
export function idempotentRequestOf(
  context: ExecutionContext,
  bodyOf: (request: Request) => string | Buffer,
): IdempotentRequest | undefined {
  const request = context.switchToHttp().getRequest<Request>();
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) refuse('Idempotency-Key', NOT_A_KEY);
  const { tenantId, subject } = contextOf(request);
  const [path = ''] = request.originalUrl.split('?');
  const route = `${request.method} ${path.replace(/\/+$/, '')}`;
  return new IdempotentRequest({ tenantId, subject, route, key }, bodyOf(request), tellReplay(context));
}

/** To be called when the answer is one that was given before, to a key in the body. */
export const OnReplay = createParamDecorator((_: unknown, context: ExecutionContext) => tellReplay(context));

function tellReplay(context: ExecutionContext): () => void {
  return () => {
    context.switchToHttp().getResponse<Response>().setHeader('Idempotent-Replayed', 'true');
  };
}
