import { Injectable } from '@nestjs/common';
import { FairQueue } from '../../concurrency/fair-queue';
import { HttpErrors } from '../../errors/http.errors';
import { PartErrors } from '../../tenancy/access.errors';
import { ManagedPart } from '../../tenancy/managed-part';
import type { RequestContext } from '../../tenancy/request-context';
import { ROOT_ID } from '../dept.entity';
import { TransferErrors } from '../dept.errors';
import { DeptRepository } from '../dept.repository';
import type { LockedDeptTree } from '../locked-dept-tree';
import { ScopedDepts } from '../scoped-depts';
import { applyImport } from './apply-import';
import type { DeptLine, LineProblem } from './dept-line';
import type { ImportReportDto } from './dept-transfer.dto';
import { DeptExport } from './export-depts';
import { DEPT_LINE, type ExportedDept } from './file-format';
import {
  countOutcomes,
  linesOutside,
  planImport,
  reportLines,
  type ImportPlan,
  type PlannedLine,
} from './import-plan';
import { readFile, type DeptFile } from './read-file';

/** How many problems of a file one refusal names. */
const MAX_PROBLEMS = 1000;
/** In one process: so many in all, and one of a top-level tenant and all below it. */
const AT_ONCE = { inWork: 4, waiting: 0, share: 1 / 4 };

/** Moves departments out of a tenant and into one, by paths of names instead of ids. */
@Injectable()
export class DeptTransferService {
  readonly #imports = new FairQueue(AT_ONCE);
  readonly #exports = new FairQueue(AT_ONCE);

  constructor(private readonly depts: DeptRepository) {}

  /** The whole tree, or what of it a picker shows of the caller's data scope, a page at a time, parents before their children. */
  async *export(
    ctx: RequestContext,
    { inScope = false }: { readonly inScope?: boolean } = {},
  ): AsyncGenerator<ExportedDept[], void> {
    const leave = await this.#exports.acquire(ctx.topTenantId, TransferErrors.TOO_MANY_EXPORTS);
    try {
      const depts = this.depts.in(ctx);
      const scope = inScope && ctx.dataScope ? await ScopedDepts.of(ctx, depts) : undefined;
      yield* new DeptExport(depts, scope).pages();
    } finally {
      leave();
    }
  }

  /** Creates and changes departments as a file says: all of it, or nothing. */
  import(ctx: RequestContext, file: DeptFile): Promise<ImportReportDto> {
    return this.#inTurn(ctx, async () => {
      const { lines, problems, isWhole } = await readFile(file, DEPT_LINE, { maxProblems: MAX_PROBLEMS });
      if (!isWhole) refuseProblems(problems);
      // What is wrong with the other lines is told at the same time, as a dry run tells it.
      if (problems.length > 0)
        refuseProblems([...problems, ...(await this.#plan(ctx, lines, problems)).problems]);
      const apply = async (tree: LockedDeptTree): Promise<ImportReportDto> => {
        const plan = await planImport(lines, (names) => tree.findNamed(names));
        refuseProblems(plan.problems);
        refuseOutside(await linesOutside(plan, tree.part));
        await applyImport(tree, plan);
        return countOutcomes(plan);
      };
      const report = await this.depts.transaction(ctx, apply, file.once?.());
      await this.depts.analyze(ctx);
      return report;
    });
  }

  /** Tells what `import` would do with every line, and changes nothing. */
  dryRun(ctx: RequestContext, file: DeptFile): Promise<ImportReportDto> {
    return this.#inTurn(ctx, async () => {
      const { lines, problems } = await readFile(file, DEPT_LINE);
      const plan = await this.#plan(ctx, lines, problems);
      const outside = (await linesOutside(plan, ManagedPart.of(ctx))).map(outsideProblem);
      return reportLines(plan, [...problems, ...plan.problems, ...outside], file.language);
    });
  }

  #plan(
    ctx: RequestContext,
    lines: readonly DeptLine[],
    refused: readonly LineProblem[],
  ): Promise<ImportPlan> {
    return planImport(lines, (names) => this.depts.in(ctx).findNamed(names), refused);
  }

  #inTurn<T>({ topTenantId }: RequestContext, work: () => Promise<T>): Promise<T> {
    return this.#imports.run(topTenantId, work, TransferErrors.TOO_MANY_IMPORTS);
  }
}

function refuseProblems(problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  const inOrder = problems.toSorted((a, b) => a.line - b.line);
  const fields = inOrder.map(({ line, field, message }) => ({ line, field, message }));
  throw HttpErrors.INVALID({ fields: fields.slice(0, MAX_PROBLEMS) });
}

function outsideProblem({ line: { line } }: PlannedLine): LineProblem {
  return { line, field: 'path', message: PartErrors.OUTSIDE_MANAGED.row };
}

/** Names the lines, and the departments that they would change or create others below; the top level as 0. */
function refuseOutside(planned: readonly PlannedLine[]): void {
  if (planned.length === 0) return;
  const first = planned.toSorted((a, b) => a.line.line - b.line.line).slice(0, MAX_PROBLEMS);
  const ids = first.flatMap(
    ({ existing, existingParent, line }) =>
      (existing ?? existingParent)?.deptId ?? (line.parentPath === null ? ROOT_ID : []),
  );
  throw PartErrors.OUTSIDE_MANAGED({ ids: [...new Set(ids)], fields: first.map(outsideProblem) });
}
