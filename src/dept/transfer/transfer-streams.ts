import { finished, Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { inForm, success } from '../../web/envelope';
import { TimeSlices } from '../../time/time-slices';
import type { ExportQuery, ImportReportDto } from './dept-transfer.dto';
import type { ExportedDept, FileFormat } from './file-format';

const BYTE_ORDER_MARK = '\ufeff';
const REPORT_LINES = 200;

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
  finished(response, () => {
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

/** Stands for the lines of a report; no text of a client is among them. */
const LINES = '\0lines';

/**
 * Sends the envelope of a report in parts: 20,000 lines as one text would block the event loop. A host may have a form of answers in
 * which the lines are not found, such as an encrypted one: then it is the report itself.
 */
export function streamReport(report: ImportReportDto, request: Request): StreamableFile | ImportReportDto {
  const { lines = [], ...counts } = report;
  const form = JSON.stringify(inForm(success({ ...counts, lines: [LINES] }), request));
  const [head = '', tail = '', ...others] = form.split(JSON.stringify(LINES));
  if (tail === '' || others.length > 0) return report;
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(head);
    for (let at = 0; at < lines.length; at += REPORT_LINES) {
      const texts = lines.slice(at, at + REPORT_LINES).map((line) => JSON.stringify(line));
      yield Buffer.from((at === 0 ? '' : ',') + texts.join(','));
      await yieldToEventLoop();
    }
    yield Buffer.from(tail);
  }
  const stream = Readable.from(chunks(), { objectMode: false });
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
}
