import { setImmediate as breathe } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { FieldProblem } from '../../http/error-catalogue';
import { HttpErrors } from '../../http/http.errors';
import type { Language } from '../../http/language';
import { readAhead } from '../../paging/read-ahead';
import type { RequestContext } from '../../tenancy/request-context';
import { DeptRepository } from '../dept.repository';
import type { LockedDeptTree } from '../locked-dept-tree';
import { carryOut } from './carry-out';
import type { DeptLine, LineProblem } from './dept-line';
import type { DeptFile } from './dept-file.decorator';
import type { ImportReportDto, LineFateDto } from './dept-transfer.dto';
import { DeptExport } from './export-depts';
import type { ExportedDept, FileFormat } from './file-format';
import { fateOf, planImport, type ImportPlan } from './import-plan';

const MOST_LINES = 20_000;
/** As many problems of a file as one answer tells. */
const MOST_PROBLEMS = 100;
/** After so many lines others have their turn. */
const LINES_A_TURN = 500;

const TOO_MANY: FieldProblem = {
  field: 'body',
  message: { zh: `最多 ${MOST_LINES} 行`, en: `must hold at most ${MOST_LINES} lines` },
};

/** A file as it was read. */
interface ReadFile {
  readonly lines: readonly DeptLine[];
  readonly problems: readonly LineProblem[];
}

/** Departments out of a tenant, and into one, by paths of names instead of ids. */
@Injectable()
export class DeptTransferService {
  constructor(private readonly depts: DeptRepository) {}

  /** The whole tree, a page at a time, parents before their children. */
  export(ctx: RequestContext): AsyncGenerator<ExportedDept[]> {
    return readAhead(new DeptExport(this.depts.in(ctx)).pages());
  }

  /** Makes and changes departments as a file says: all of it, or nothing. */
  async import(ctx: RequestContext, { format, text, once }: DeptFile): Promise<ImportReportDto> {
    const { lines, problems } = await readFile(format, text);
    refuseProblems(problems);
    const take = async (tree: LockedDeptTree): Promise<ImportReportDto> => {
      const plan = await planImport(lines, (names) => tree.findNamed(names));
      refuseProblems(plan.problems);
      await carryOut(tree, plan);
      return countFates(plan);
    };
    return this.depts.transaction(ctx, take, once);
  }

  /** Says what `import` would do with every line, and changes nothing. */
  async rehearse(ctx: RequestContext, { format, text, language }: DeptFile): Promise<ImportReportDto> {
    const file = await readFile(format, text);
    const plan = await planImport(file.lines, (names) => this.depts.in(ctx).findNamed(names));
    const lines = fatesByLine(plan, [...file.problems, ...plan.problems], language);
    const count = (fate: LineFateDto['fate']) => lines.filter((line) => line.fate === fate).length;
    return {
      created: count('created'),
      updated: count('updated'),
      unchanged: count('unchanged'),
      refused: count('refused'),
      lines,
    };
  }
}

async function readFile(format: FileFormat, text: string): Promise<ReadFile> {
  const lines: DeptLine[] = [];
  const problems: LineProblem[] = [];
  let count = 0;
  for (const line of format.parse(text)) {
    count += 1;
    if (count > MOST_LINES) throw HttpErrors.INVALID({ fields: [TOO_MANY] });
    if (Array.isArray(line)) problems.push(...line);
    else lines.push(line);
    if (count % LINES_A_TURN === 0) await breathe();
  }
  return { lines, problems };
}

function refuseProblems(problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  const fields = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ line, field, message }) => ({ field: `line ${line}: ${field}`, message }));
  throw HttpErrors.INVALID({ fields });
}

function countFates({ levels }: ImportPlan): ImportReportDto {
  const report = { created: 0, updated: 0, unchanged: 0 };
  for (const node of levels.flat()) report[fateOf(node)] += 1;
  return report;
}

function fatesByLine(
  { levels }: ImportPlan,
  problems: readonly LineProblem[],
  language: Language,
): LineFateDto[] {
  const fates = new Map<number, LineFateDto>();
  for (const node of levels.flat()) {
    if (node.line) fates.set(node.line.line, { line: node.line.line, fate: fateOf(node) });
  }
  for (const { line, field, message } of problems) {
    const before = fates.get(line)?.problems ?? [];
    fates.set(line, {
      line,
      fate: 'refused',
      problems: [...before, { field, message: message[language] }],
    });
  }
  return [...fates.values()].sort((a, b) => a.line - b.line);
}
