import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { IdempotentRequest } from '../database/idempotent-request';
import { HttpErrors } from '../errors/http.errors';
import { contextOf } from '../tenancy/request-context';
import { documented } from './documented';

const PATTERN = String.raw`^[\x20-\x7e]{1,255}$`;
const KEY = new RegExp(PATTERN);
const MALFORMED = {
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
      schema: { type: 'string', pattern: PATTERN },
    }),
  );
}

/** Undefined without the header. */
export function idempotentRequestOf(
  context: ExecutionContext,
  bodyOf: (request: Request) => string | Buffer,
): IdempotentRequest | undefined {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw HttpErrors.INVALID({ fields: [{ field: 'Idempotency-Key', message: MALFORMED }] });
  }
  const { tenantId, subject } = contextOf(request);
  const [path = ''] = request.originalUrl.split('?');
  const route = `${request.method} ${path.replace(/\/+$/, '')}`;
  return new IdempotentRequest({ tenantId, subject, route, key }, bodyOf(request), () => {
    http.getResponse<Response>().setHeader('Idempotent-Replayed', 'true');
  });
}
