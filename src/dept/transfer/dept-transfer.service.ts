import { Injectable } from '@nestjs/common';
import { HttpErrors } from '../../errors/http.errors';
import { readAhead } from './read-ahead';
import type { RequestContext } from '../../tenancy/request-context';
import { DeptRepository } from '../dept.repository';
import type { LockedDeptTree } from '../locked-dept-tree';
import { applyImport } from './apply-import';
import type { LineProblem } from './dept-line';
import type { DeptFile } from './dept-file.decorator';
import type { ImportReportDto } from './dept-transfer.dto';
import { DeptExport } from './export-depts';
import type { ExportedDept } from './file-format';
import { planImport } from './import-plan';
import { countFates, reportLines } from './import-report';
import { readFile } from './read-file';
import { TenantSlots } from './tenant-slots';
import { TransferErrors } from './transfer.errors';

/** As many problems of a file as one answer tells. */
const MAX_PROBLEMS = 100;
/** Of all tenants at once. */
const MAX_IMPORTS = 4;
const MAX_EXPORTS = 4;

/** Departments out of a tenant, and into one, by paths of names instead of ids. */
@Injectable()
export class DeptTransferService {
  readonly #imports = new TenantSlots(MAX_IMPORTS, TransferErrors.TOO_MANY_IMPORTS);
  readonly #exports = new TenantSlots(MAX_EXPORTS, TransferErrors.TOO_MANY_EXPORTS);

  constructor(private readonly depts: DeptRepository) {}

  /** The whole tree, a page at a time, parents before their children. Its slot is taken with the first page, and free at the end. */
  async *export(ctx: RequestContext): AsyncGenerator<ExportedDept[], void> {
    const free = this.#exports.take(ctx.tenantId);
    try {
      yield* readAhead(new DeptExport(this.depts.in(ctx)).pages());
    } finally {
      free();
    }
  }

  /** Makes and changes departments as a file says: all of it, or nothing. */
  import(ctx: RequestContext, file: DeptFile): Promise<ImportReportDto> {
    return this.#inSlot(ctx, async () => {
      const { lines, problems } = await readFile(file, MAX_PROBLEMS);
      refuseProblems(problems);
      const take = async (tree: LockedDeptTree): Promise<ImportReportDto> => {
        const plan = await planImport(lines, (names) => tree.findNamed(names));
        refuseProblems(plan.problems);
        await applyImport(tree, plan);
        return countFates(plan);
      };
      return this.depts.transaction(ctx, take, file.once?.());
    });
  }

  /** Says what `import` would do with every line, and changes nothing. */
  rehearse(ctx: RequestContext, file: DeptFile): Promise<ImportReportDto> {
    return this.#inSlot(ctx, async () => {
      const { lines, problems } = await readFile(file);
      const plan = await planImport(lines, (names) => this.depts.in(ctx).findNamed(names));
      return reportLines(plan, [...problems, ...plan.problems], file.language);
    });
  }

  async #inSlot<T>({ tenantId }: RequestContext, work: () => Promise<T>): Promise<T> {
    const free = this.#imports.take(tenantId);
    try {
      return await work();
    } finally {
      free();
    }
  }
}

function refuseProblems(problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  const fields = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ line, field, message }) => ({ field: `line ${line}: ${field}`, message }));
  throw HttpErrors.INVALID({ fields });
}
