import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { success } from '../../web/envelope';
import type { Language } from '../../web/request';
import { TimeSlices } from '../../time/time-slices';
import type { LineProblem } from './dept-line';
import type { ImportReportDto, LineFateDto } from './dept-transfer.dto';
import type { ImportPlan } from './import-plan';

/** So many lines of a report become text at once. */
const CHUNK = 200;

export function countFates({ levels }: ImportPlan): ImportReportDto {
  const report = { created: 0, updated: 0, unchanged: 0 };
  for (const level of levels) for (const { fate } of level) report[fate] += 1;
  return report;
}

/** What would become of every line. */
export async function reportLines(
  { levels }: ImportPlan,
  problems: readonly LineProblem[],
  language: Language,
): Promise<ImportReportDto> {
  const slices = new TimeSlices();
  // By line number: sorting would take long in one go.
  const byLine: (LineFateDto | undefined)[] = [];
  for (const level of levels) {
    for await (const { line, fate } of slices.over(level)) byLine[line.line] = { line: line.line, fate };
  }
  for await (const { line, field, message } of slices.over(problems)) {
    const problem = { field, message: message[language] };
    const before = byLine[line];
    if (before?.problems) before.problems.push(problem);
    else byLine[line] = { line, fate: 'refused', problems: [problem] };
  }
  const report = { created: 0, updated: 0, unchanged: 0, refused: 0, lines: [] as LineFateDto[] };
  for await (const line of slices.over(byLine)) {
    // Lines that say nothing of a department leave holes.
    if (!line) continue;
    report[line.fate] += 1;
    report.lines.push(line);
  }
  return report;
}

/** The envelope of a report, written in parts: as one text, that of a large file would hold up everybody else. */
export function streamReport({ lines = [], ...counts }: ImportReportDto): StreamableFile {
  const [head = '', tail = ''] = JSON.stringify(success({ ...counts, lines: [] })).split(/(?<=\[)(?=\])/);
  function* parts(): Generator<string> {
    yield head;
    for (let at = 0; at < lines.length; at += CHUNK) {
      const texts = lines.slice(at, at + CHUNK).map((line) => JSON.stringify(line));
      yield (at === 0 ? '' : ',') + texts.join(',');
    }
    yield tail;
  }
  const stream = Readable.from(inTurns(parts()), { objectMode: false });
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
}

async function* inTurns(parts: Iterable<string>): AsyncGenerator<Buffer> {
  for await (const part of new TimeSlices().over(parts)) yield Buffer.from(part);
}
