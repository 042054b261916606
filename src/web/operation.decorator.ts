import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { AllowRoles } from './roles.guard';
import type { Role } from '../tenancy/roles';
import { SUCCESS_CODE, SUCCESS_MESSAGE } from './envelope';
import type { RefusalFactory } from '../errors/refusal';
import { RefusalEnvelope } from './refusal.dto';
import { envelopeOf, type AnswerType } from './envelopes';
import { header, RATE_LIMIT_HEADERS, refusalResponses } from './refusal-responses';

/** A body that its class alone does not tell enough about. */
export interface BodyOptions {
  readonly type: Type;
  /** Its media types. Default `application/json`. */
  readonly as?: readonly string[];
  readonly example: unknown;
}

export interface OperationOptions extends AnswerType {
  /** Its name in documents and in clients that are made from them. It never changes. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Who may call it; nobody named: everybody, without a token. */
  readonly roles: readonly Role[];
  readonly body?: BodyOptions;
  /** A file as the body: media types and what it looks like in each. */
  readonly upload?: Readonly<Record<string, string>>;
  /** A file as the answer, outside the envelope: media types and what it looks like in each. */
  readonly file?: Readonly<Record<string, string>>;
  /** `Location` names what was made. */
  readonly creates?: true;
  /** The refusals of this operation, beside those that every operation has. */
  readonly refusals: readonly RefusalFactory[];
}

/** One operation of the API: who may call it and what it answers, for the guard and for the documentation. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, description, roles, body, upload, file, refusals } = options;
  const isOpen = roles.length === 0;
  const envelope = envelopeOf(options);
  const responses = Object.entries(refusalResponses(refusals, isOpen));
  return applyDecorators(
    HttpCode(SUCCESS_CODE),
    AllowRoles(roles),
    ApiOperation({
      operationId: id,
      summary,
      ...(description !== undefined && { description }),
      ...(upload && { requestBody: { required: true, content: fileContent(upload) } }),
    }),
    ApiExtraModels(RefusalEnvelope, ...(file ? [] : [envelope])),
    ...(body ? [describeBody(body)] : []),
    ApiResponse({
      status: SUCCESS_CODE,
      description: SUCCESS_MESSAGE,
      headers: {
        ...header('X-Request-Id'),
        ...RATE_LIMIT_HEADERS,
        ...(options.creates && header('Location')),
        ...(file && header('Content-Disposition')),
      },
      content: file
        ? fileContent(file)
        : { 'application/json': { schema: { $ref: getSchemaPath(envelope) } } },
    }),
    ...responses.map(([status, response]) =>
      ApiResponse({ status: status === 'default' ? status : Number(status), ...response }),
    ),
  );
}

function describeBody({ type, as = ['application/json'], example }: BodyOptions): MethodDecorator {
  return applyDecorators(
    ApiConsumes(...as),
    ApiBody({
      type,
      required: true,
      examples: { default: { value: example } },
    }),
  );
}

function fileContent(file: Readonly<Record<string, string>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(file).map(([type, example]) => [type, { schema: { type: 'string' }, example }]),
  );
}
