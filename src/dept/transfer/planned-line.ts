import type { TreeNode } from '../../tree/tree-path';
import { DEPT_DETAILS, type DeptEntity } from '../dept.entity';
import type { DeptLine } from './dept-line';

export type Fate = 'created' | 'updated' | 'unchanged';

/** A line of a file, with what is there already at its place. */
export class PlannedLine {
  /** The department that it names. */
  existing: DeptEntity | undefined;
  /** The parent of that place. */
  existingParent: DeptEntity | undefined;
  /** How many departments have its name under that parent. */
  sameNamed = 0;
  /** The department that was made of it. */
  made: TreeNode | undefined;
  #fate: Fate | undefined;

  constructor(
    readonly line: DeptLine,
    /** All lines of the file. */
    private readonly byPath: ReadonlyMap<string, PlannedLine>,
  ) {}

  /** The line of its parent, where the file has one. */
  get parent(): PlannedLine | undefined {
    return this.line.parentPath === null ? undefined : this.byPath.get(this.line.parentPath);
  }

  /** What becomes of the department; asked for when it is known what is there. */
  get fate(): Fate {
    return (this.#fate ??= this.#decide());
  }

  #decide(): Fate {
    const { existing, line } = this;
    if (!existing) return 'created';
    const differs = DEPT_DETAILS.some(
      (field) => field in line.fields && line.fields[field] !== existing[field],
    );
    return differs ? 'updated' : 'unchanged';
  }
}
