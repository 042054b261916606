import { isUtf8 } from 'node:buffer';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { documentsIdempotencyKey, onceFor } from '../../api/idempotency-key.decorator';
import type { Once } from '../../database/once';
import { HttpErrors } from '../../http/http.errors';
import { isUtf8Type } from '../../http/json-body';
import { languageOf, type Language } from '../../http/language';
import { FORMATS, type FileFormat } from './file-format';

const MOST_BYTES = 16 * 1024 * 1024;

/** A file of departments as it was sent. */
export interface DeptFile {
  readonly format: FileFormat;
  readonly text: string;
  readonly once: Once | undefined;
  readonly language: Language;
}

/** Reads the body of an import, after the caller was found to be allowed to send one. */
export const DeptFileBody = createParamDecorator(
  async (_: unknown, context: ExecutionContext): Promise<DeptFile> => {
    const request = context.switchToHttp().getRequest<Request>();
    const format = FORMATS.find(({ type }) => request.is(type));
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const readable = encoding === 'identity' && isUtf8Type(request.headers['content-type']);
    if (!format || !readable) throw HttpErrors.MEDIA_TYPE();
    const body = await readBody(request);
    if (!isUtf8(body)) throw HttpErrors.MALFORMED();
    return {
      format,
      text: body.toString(),
      once: onceFor(context, () => body),
      language: languageOf(request),
    };
  },
  [documentsIdempotencyKey()],
);

/** Whether a request brings a body that an import reads by itself. */
export function bringsFile(request: Request): boolean {
  return request.method === 'POST' && FORMATS.some(({ type }) => request.is(type));
}

async function readBody(request: Request): Promise<Buffer> {
  // A host may have read it already.
  if (typeof request.body === 'string' || Buffer.isBuffer(request.body)) return Buffer.from(request.body);
  const body = await collect(request);
  if (body) return body;
  // The rest is still on its way, and what comes next on this connection is behind it.
  request.resume();
  throw HttpErrors.TOO_LARGE();
}

/** Null when it is too long. It is not destroyed then: the refusal still has to go out on its connection. */
async function collect(request: Request): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
