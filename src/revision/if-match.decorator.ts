import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { HttpErrors } from '../http/http.errors';
import type { Expected } from './revision';

const TAG = /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const MALFORMED = {
  zh: '必须为 * 或带双引号的 ETag，用逗号分隔',
  en: 'must be * or quoted entity tags separated by commas',
};

/** The revisions that the header `If-Match` allows; undefined without it, or when it allows any. */
export const IfMatch = createParamDecorator((_: unknown, context: ExecutionContext): Expected => {
  return expectedBy(context.switchToHttp().getRequest<Request>().headers['if-match']);
});

/** Weak tags and tags that are not ours match nothing: this comparison is the strong one. */
export function expectedBy(header: string | undefined): Expected {
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  if (!tags.every((tag) => TAG.test(tag))) {
    throw HttpErrors.INVALID({ fields: [{ field: 'If-Match', message: MALFORMED }] });
  }
  return tags.flatMap((tag) => /^"(\d{1,10})"$/.exec(tag)?.[1] ?? []).map(Number);
}

/** The strong entity tag of a revision. */
export function tagOf(revision: number): string {
  return `"${revision}"`;
}
