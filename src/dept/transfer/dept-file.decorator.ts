import { createHash, type Hash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { documentsIdempotencyKey, idempotentRequestOf } from '../../web/params';
import { HttpErrors } from '../../errors/http.errors';
import { isUtf8Type, languageOf } from '../../web/request';
import { FORMATS, type FileFormat } from './file-format';
import { MAX_BYTES, type DeptFile } from './read-file';

/** The format that the header `Accept` prefers. */
export const AcceptedFormat = createParamDecorator((_: unknown, context: ExecutionContext): FileFormat => {
  const request = context.switchToHttp().getRequest<Request>();
  const accepted = request.accepts(FORMATS.map(({ type }) => type));
  const format = FORMATS.find(({ type }) => type === accepted);
  if (!format) throw HttpErrors.NOT_ACCEPTABLE();
  return format;
});

/** The body of an import. It is read only after the guards have let the caller in. */
export const DeptFileBody = createParamDecorator(
  (_: unknown, context: ExecutionContext): DeptFile => {
    const request = context.switchToHttp().getRequest<Request>();
    const format = FORMATS.find(({ sentAs }) => request.is([...sentAs]));
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const isReadable = encoding === 'identity' && isUtf8Type(request.headers['content-type']);
    if (!format || !isReadable) throw HttpErrors.MEDIA_TYPE();
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

/** Whether a request has a body that an import reads by itself. */
export function bringsFile(request: Request): boolean {
  return request.method === 'POST' && FORMATS.some(({ sentAs }) => request.is([...sentAs]));
}

async function* partsOf(request: Request, hash: Hash): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const part of bodyOf(request)) {
      hash.update(part);
      yield part;
    }
  } finally {
    // The rest of the body must pass before the next request on this connection.
    request.resume();
    // The connection is silent until the import is done, which may take longer than its timeout.
    request.socket.setTimeout(0);
  }
}

function bodyOf(request: Request): Iterable<Buffer> | AsyncIterable<Buffer> {
  // A host may have read it already.
  if (typeof request.body === 'string' || Buffer.isBuffer(request.body)) return [Buffer.from(request.body)];
  // Not destroyed when reading ends early: the refusal must still be sent.
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}
