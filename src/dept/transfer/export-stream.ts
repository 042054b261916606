import { finished, Readable } from 'node:stream';
import { createParamDecorator, StreamableFile, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { HttpErrors } from '../../errors/http.errors';
import { FORMATS, type ExportedDept, type FileFormat } from './file-format';

const BYTE_ORDER_MARK = '\ufeff';

/** The form of a file that the header `Accept` prefers. */
export const AcceptedFormat = createParamDecorator((_: unknown, context: ExecutionContext): FileFormat => {
  const request = context.switchToHttp().getRequest<Request>();
  const accepted = request.accepts(FORMATS.map(({ type }) => type));
  const format = FORMATS.find(({ type }) => type === accepted);
  if (!format) throw HttpErrors.NOT_ACCEPTABLE();
  return format;
});

/**
 * A file that is sent as it is read. What fails before its first part is refused; what fails later cuts it off. When the
 * response is over, whoever ended it, no more pages are read.
 */
export async function streamFile(
  format: FileFormat,
  withBom: boolean,
  pages: AsyncGenerator<ExportedDept[], void>,
  response: Response,
): Promise<StreamableFile> {
  const first = await pages.next();
  const head = (withBom && format.isTable ? BYTE_ORDER_MARK : '') + format.head;
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(head + (first.done ? '' : toText(format, first.value)));
    for await (const page of pages) yield Buffer.from(toText(format, page));
  }
  const stream = Readable.from(chunks(), { objectMode: false });
  finished(response, () => {
    stream.destroy();
    // Not left to the stream: what was never read from does not end its source.
    void pages.return();
  });
  const file = new StreamableFile(stream, {
    type: `${format.type}; charset=utf-8`,
    disposition: `attachment; filename="${format.fileName}"`,
  });
  // Ending it politely would make half a file look like a whole one.
  file.setErrorHandler((_, failed) => {
    (failed as unknown as { destroy(): void }).destroy();
  });
  return file;
}

function toText(format: FileFormat, page: readonly ExportedDept[]): string {
  let text = '';
  for (const dept of page) text += format.format(dept);
  return text;
}
