import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request } from 'express';
import { documented } from './documented';
import { HttpErrors } from '../errors/http.errors';
import type { Expected } from './revision';

const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const LIST = new RegExp(`^\\s*${TAG}(?:\\s*,\\s*${TAG})*\\s*$`);
const MALFORMED = {
  zh: '必须为 * 或带双引号的 ETag，多个 ETag 用逗号分隔',
  en: 'must be * or quoted entity tags separated by commas',
};

/** The tags that the header `If-Match` allows; undefined without it, or when it allows any. */
export const IfMatch = createParamDecorator(
  (_: unknown, context: ExecutionContext): Expected =>
    expectedBy(context.switchToHttp().getRequest<Request>().headers['if-match']),
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

/** Weak tags match nothing: this comparison is the strong one. */
export function expectedBy(header: string | undefined): Expected {
  if (header === undefined || header.trim() === '*') return undefined;
  if (!LIST.test(header)) {
    throw HttpErrors.INVALID({ fields: [{ field: 'If-Match', message: MALFORMED }] });
  }
  return header.match(new RegExp(TAG, 'g')) ?? [];
}
