import { createHash, type Hash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { documentsIdempotencyKey, idempotentRequestOf } from '../../web/params';
import { HttpErrors } from '../../errors/http.errors';
import { isUtf8Type, languageOf, wrongType } from '../../web/request';
import { noteUnknown } from '../../web/unknown-names';
import { FORMATS, type FileFormat } from './file-format';
import { IMPORT_LIMITS, type DeptFile } from './read-file';

/** The format that the header `Accept` prefers. */
export const AcceptedFormat = createParamDecorator((_: unknown, context: ExecutionContext): FileFormat => {
  const request = context.switchToHttp().getRequest<Request>();
  const accepted = request.accepts(FORMATS.map(({ type }) => type));
  const format = FORMATS.find(({ type }) => type === accepted);
  if (!format) throw HttpErrors.NOT_ACCEPTABLE();
  return format;
});

const ENCODED = { field: 'Content-Encoding', message: { zh: '只能为 identity', en: 'must be identity' } };

/** The body of an import. It is read only after the guards have let the caller in. */
export const DeptFileBody = createParamDecorator(
  (_: unknown, context: ExecutionContext): DeptFile => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const format = FORMATS.find(({ sentAs }) => request.is([...sentAs]));
    const { 'content-encoding': encoding = 'identity', 'content-type': type } = request.headers;
    if (!format || !isUtf8Type(type)) throw wrongType(FORMATS.flatMap(({ sentAs }) => sentAs));
    if (encoding !== 'identity') throw HttpErrors.MEDIA_TYPE({ fields: [ENCODED] });
    if (Number(request.headers['content-length'] ?? 0) > IMPORT_LIMITS.bytes) throw HttpErrors.TOO_LARGE();
    const hash = createHash('sha256');
    return {
      format,
      body: partsOf(request, hash),
      once: () => idempotentRequestOf(context, () => hash.digest('hex')),
      language: languageOf(request),
      unknown: (name, known) => noteUnknown(http, name, known),
    };
  },
  [documentsIdempotencyKey()],
);

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
