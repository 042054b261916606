import { applyDecorators, HttpCode, SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import {
  ApiConsumes,
  ApiExtension,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  type ApiPropertyOptions,
} from '@nestjs/swagger';
import type { RefusalFactory } from '../errors/refusal';
import type { Role } from '../tenancy/roles';
import { SUCCESS_CODE, SUCCESS_MESSAGE } from './envelope';
import { RefusalEnvelope } from './refusal.dto';
import { headers, refusalResponses } from './refusal-responses';
import { documentsInput } from './input';
import { AllowRoles, NeedsPermission, OperationId } from './roles.guard';
import { schemaClass, schemaRef, stem } from './schema-names';

/** Media types, and what a file looks like in each. */
type FileTypes = Readonly<Record<string, string>>;

export type Callbacks = NonNullable<Parameters<typeof ApiOperation>[0]['callbacks']>;

interface OperationOptions {
  /** Its name in documents and in clients that are made from them. It never changes. */
  readonly id: string;
  readonly summary: string;
  /** What the summary does not say: what it does beside, what is refused, what matters. */
  readonly description: string;
  /** The roles that may call it; none: everybody, without a token. */
  readonly roles: readonly Role[];
  /** What a limited token or key must be allowed to; null: nothing. */
  readonly permission: string | null;
  /** What the class of the body does not tell; `as` are its media types, by default `application/json`. */
  readonly body?: { readonly as?: readonly string[]; readonly example: unknown };
  /** A file as the body. */
  readonly upload?: FileTypes;
  /** What `data` of a successful answer holds, is a page of, or is a list of; null when nothing is named. */
  readonly data?: Type;
  readonly page?: Type;
  readonly list?: Type;
  /** A file as the answer, outside the envelope. */
  readonly file?: FileTypes;
  /** Files that the answer may be instead, if `Accept` prefers one. */
  readonly alsoAs?: FileTypes;
  /** `X-Change-Cursor` names the place in the journal at which the answer began. */
  readonly tellsChangeCursor?: true;
  /** `Location` names what was made. */
  readonly creates?: true;
  /** `ETag` is that of what was made or changed. */
  readonly tellsTag?: true;
  /** `Idempotent-Replayed` tells that a key in the body has been used before. */
  readonly replays?: true;
  /** What is sent elsewhere because of it. */
  readonly callbacks?: Callbacks;
  /** The refusals of this operation, beside those that every operation has. */
  readonly refusals: readonly RefusalFactory[];
}

/** One operation of the API: the roles that may call it and what it answers, for the guard and for the documentation. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, description, roles, permission, body, upload, file, alsoAs, refusals } = options;
  const { creates, tellsTag, replays, tellsChangeCursor, callbacks } = options;
  const envelope = envelopeOf(options);
  const told = [
    ...(creates ? (['Location'] as const) : []),
    ...(tellsTag ? (['ETag'] as const) : []),
    ...(replays ? (['Idempotent-Replayed'] as const) : []),
    ...(tellsChangeCursor ? (['X-Change-Cursor'] as const) : []),
    ...(file ? (['Content-Disposition'] as const) : []),
  ];
  const refused = refusalResponses(id, refusals, roles.length === 0);
  return applyDecorators(
    HttpCode(SUCCESS_CODE),
    AllowRoles(roles),
    ...(permission === null ? [] : [NeedsPermission(permission), ApiExtension(PERMISSION, permission)]),
    OperationId(id),
    ...(tellsChangeCursor ? [SetMetadata(TELLS_CHANGE_CURSOR, true)] : []),
    ApiOperation({
      operationId: id,
      summary,
      description: permission === null ? description : `${description} Permission: \`${permission}\`.`,
      ...(callbacks && { callbacks }),
      ...(upload && { requestBody: { required: true, content: contentOf(upload) } }),
    }),
    ApiExtraModels(RefusalEnvelope, ...(file ? [] : [envelope])),
    documentsInput(body?.example),
    ...(body ? [ApiConsumes(...(body.as ?? ['application/json']))] : []),
    ApiResponse({
      status: SUCCESS_CODE,
      description: SUCCESS_MESSAGE,
      ...(told.length > 0 && { headers: headers(...told) }),
      content: file
        ? contentOf(file)
        : { 'application/json': { schema: schemaRef(envelope) }, ...contentOf(alsoAs ?? {}) },
    }),
    ...[...refused].map(([status, answer]) => ApiResponse({ status, ...answer })),
  );
}

/** How documents tell programs the permission of an operation. */
export const PERMISSION = 'x-permission';

const TELLS_CHANGE_CURSOR = 'tenantry:tellsChangeCursor';

export function tellsChangeCursor(context: ExecutionContext): boolean {
  return Reflect.getMetadata(TELLS_CHANGE_CURSOR, context.getHandler()) === true;
}

function contentOf(file: FileTypes): Record<string, object> {
  const formatOf = (type: string) => (type === 'application/octet-stream' ? { format: 'binary' } : {});
  return Object.fromEntries(
    Object.entries(file).map(([type, example]) => [
      type,
      { schema: { type: 'string', ...formatOf(type) }, example },
    ]),
  );
}

/** The envelope of an answer as a class, so that documents and generated clients have a name for it. */
function envelopeOf({ data, page, list }: OperationOptions): Type {
  if (data) return envelope(stem(data), { type: data });
  if (list) return envelope(`${stem(list)}List`, { type: list, isArray: true });
  if (page) return envelope(`${stem(page)}Page`, { type: pageOf(page) });
  return envelope('Done', { type: 'string', nullable: true, description: 'Always null.', example: null });
}

const SUCCESS = schemaClass('Success', {
  code: { type: 'integer', format: 'int32', example: SUCCESS_CODE },
  msg: { type: 'string', example: SUCCESS_MESSAGE },
});

function envelope(name: string, data: ApiPropertyOptions): Type {
  return schemaClass(`${name}Envelope`, { data }, SUCCESS);
}

const PAGE = schemaClass('Page', {
  nextCursor: {
    type: 'string',
    nullable: true,
    description: 'Send it as `cursor` to read the next page; null on the last page.',
  },
  hasMore: { type: 'boolean' },
});

function pageOf(row: Type): Type {
  return schemaClass(`${stem(row)}Page`, { rows: { type: row, isArray: true } }, PAGE);
}
