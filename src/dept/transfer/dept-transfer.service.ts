import { Injectable } from '@nestjs/common';
import { HttpErrors } from '../../errors/http.errors';
import type { RefusalFactory } from '../../errors/refusal';
import type { RequestContext } from '../../tenancy/request-context';
import { TransferErrors } from '../dept.errors';
import { DeptRepository } from '../dept.repository';
import type { LockedDeptTree } from '../dept.repository';
import { applyImport } from './apply-import';
import type { LineProblem } from './dept-line';
import type { ImportReportDto } from './dept-transfer.dto';
import { DeptExport } from './export-depts';
import type { ExportedDept } from './file-format';
import { countOutcomes, planImport, reportLines } from './import-plan';
import { readFile, type DeptFile } from './read-file';

/** How many problems of a file one refusal names. */
const MAX_PROBLEMS = 100;
/** In one process, of all tenants. */
const MAX_IMPORTS = 4;
const MAX_EXPORTS = 4;

/** Moves departments out of a tenant and into one, by paths of names instead of ids. */
@Injectable()
export class DeptTransferService {
  readonly #imports = new TenantSlots(MAX_IMPORTS, TransferErrors.TOO_MANY_IMPORTS);
  readonly #exports = new TenantSlots(MAX_EXPORTS, TransferErrors.TOO_MANY_EXPORTS);

  constructor(private readonly depts: DeptRepository) {}

  /** The whole tree, a page at a time, parents before their children. */
  async *export(ctx: RequestContext): AsyncGenerator<ExportedDept[], void> {
    const release = this.#exports.take(ctx.tenantId);
    try {
      yield* new DeptExport(this.depts.in(ctx)).pages();
    } finally {
      release();
    }
  }

  /** Creates and changes departments as a file says: all of it, or nothing. */
  import(ctx: RequestContext, file: DeptFile): Promise<ImportReportDto> {
    return this.#inSlot(ctx, async () => {
      const { lines, problems } = await readFile(file, MAX_PROBLEMS);
      refuseProblems(problems);
      const apply = async (tree: LockedDeptTree): Promise<ImportReportDto> => {
        const plan = await planImport(lines, (names) => tree.findNamed(names));
        refuseProblems(plan.problems);
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
    return this.#inSlot(ctx, async () => {
      const { lines, problems } = await readFile(file);
      const plan = await planImport(lines, (names) => this.depts.in(ctx).findNamed(names));
      return reportLines(plan, [...problems, ...plan.problems], file.language);
    });
  }

  async #inSlot<T>({ tenantId }: RequestContext, work: () => Promise<T>): Promise<T> {
    const release = this.#imports.take(tenantId);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

/** Lets each tenant do one thing at a time, and all tenants of this process so many. */
export class TenantSlots {
  readonly #taken = new Set<string>();

  constructor(
    private readonly max: number,
    private readonly refusal: RefusalFactory,
  ) {}

  /** Takes a slot or refuses; gives the function that releases it. */
  take(tenantId: string): () => void {
    if (this.#taken.has(tenantId) || this.#taken.size >= this.max) throw this.refusal();
    this.#taken.add(tenantId);
    return () => void this.#taken.delete(tenantId);
  }
}

function refuseProblems(problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  const fields = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ line, field, message }) => ({ field: `line ${line}: ${field}`, message }));
  throw HttpErrors.INVALID({ fields });
}
