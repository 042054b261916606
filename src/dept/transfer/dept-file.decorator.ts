import { createHash, type Hash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { documentsIdempotencyKey, idempotentRequestOf } from '../../web/params';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { HttpErrors } from '../../errors/http.errors';
import { isUtf8Type } from '../../web/json-body';
import { languageOf, type Language } from '../../web/request';
import { FORMATS, type FileFormat } from './file-format';
import { MAX_BYTES } from './file-limits';

/** A file of departments as it is sent. */
export interface DeptFile {
  readonly format: FileFormat;
  /** Its bytes in parts, which can be read once. */
  readonly body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** What makes the import happen once; asked for when all of the body has been read. */
  readonly once?: () => IdempotentRequest | undefined;
  readonly language: Language;
}

/** The body of an import. It is read when the caller was found to be allowed to send one. */
export const DeptFileBody = createParamDecorator(
  (_: unknown, context: ExecutionContext): DeptFile => {
    const request = context.switchToHttp().getRequest<Request>();
    const format = FORMATS.find(({ type }) => request.is(type));
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const readable = encoding === 'identity' && isUtf8Type(request.headers['content-type']);
    if (!format || !readable) throw HttpErrors.MEDIA_TYPE();
    if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw HttpErrors.TOO_LARGE();
    const hash = createHash('sha256');
    return {
      format,
      body: partsOf(request, hash),
      once: () => idempotentRequestOf(context, () => hash.digest('hex')),
      language: languageOf(request),
    };
  },
  [documentsIdempotencyKey()],
);

/** Whether a request brings a body that an import reads by itself. */
export function bringsFile(request: Request): boolean {
  return request.method === 'POST' && FORMATS.some(({ type }) => request.is(type));
}

async function* partsOf(request: Request, hash: Hash): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const part of bodyOf(request)) {
      hash.update(part);
      yield part;
    }
  } finally {
    // The rest may still be on its way, and what comes next on this connection is behind it.
    request.resume();
    // Nothing moves on it until the import is done, which may take longer than a silent connection is kept.
    request.socket.setTimeout(0);
  }
}

/** A request is not destroyed when reading ends early: the refusal still has to go out on its connection. */
function bodyOf(request: Request): Iterable<Buffer> | AsyncIterable<Buffer> {
  // A host may have read it already.
  if (typeof request.body === 'string' || Buffer.isBuffer(request.body)) return [Buffer.from(request.body)];
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}
