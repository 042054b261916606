import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { TimeSlices } from '../../time/time-slices';
import { onceClosed } from '../../web/request';
import type { ExportQuery } from './dept-transfer.dto';
import type { ExportedDept, FileFormat } from './file-format';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Sends a file while it is read. A failure before the first page is refused; a later one cuts the connection. When the
 * response ends, by whichever side, no more pages are read.
 */
export async function streamFile(
  format: FileFormat,
  { bom = false, ids = false }: ExportQuery,
  pages: AsyncGenerator<ExportedDept[], void>,
  response: Response,
): Promise<StreamableFile> {
  const first = await pages.next();
  const head = (bom && format.isTable ? BYTE_ORDER_MARK : '') + format.head(ids);
  const slices = new TimeSlices();
  const toText = async (page: readonly ExportedDept[]): Promise<string> => {
    let text = '';
    for (const dept of page) {
      if (slices.isOver) await slices.next();
      text += format.format(dept, ids);
    }
    return text;
  };
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(head + (first.done ? '' : await toText(first.value)));
    for await (const page of pages) yield Buffer.from(await toText(page));
  }
  const stream = Readable.from(chunks(), { objectMode: false });
  onceClosed(response, () => {
    stream.destroy();
    // A stream that was never read from does not end its source.
    void pages.return();
  });
  const file = new StreamableFile(stream, {
    type: `${format.type}; charset=utf-8`,
    disposition: `attachment; filename="${format.fileName}"`,
  });
  // A normal end would make half a file look complete.
  file.setErrorHandler((_, failed) => {
    (failed as unknown as { destroy(): void }).destroy();
  });
  return file;
}
