import { FlagParam } from '../../web/fields';
import { FieldProblemDto } from '../../web/refusal.dto';
import { Choice, Int32 } from '../../web/view-fields';

/** How a file is written. */
export class ExportQuery {
  /** CSV: begin with a byte order mark, which tells Excel that the file is UTF-8. */
  @FlagParam()
  bom?: boolean;
  /** Begin every department with its `deptId` and `parentId`. An import ignores them. */
  @FlagParam()
  ids?: boolean;
  /** Only departments in the caller's data scope, and those above them. */
  @FlagParam()
  inScope?: boolean;
}

/** How a file is taken. */
export class ImportQuery {
  /** Only report what would happen to each line. */
  @FlagParam()
  dryRun?: boolean;
}

export type LineFate = 'created' | 'updated' | 'unchanged' | 'refused';

/** What becomes of one line. */
export class LineFateDto {
  @Int32()
  line!: number;
  @Choice('created', 'updated', 'unchanged', 'refused')
  fate!: LineFate;
  /** What is wrong with a line that is refused. */
  problems?: FieldProblemDto[];
}

/** What a file did, or would do. */
export class ImportReportDto {
  @Int32()
  created!: number;
  @Int32()
  updated!: number;
  @Int32()
  unchanged!: number;
  /** Lines that would be refused; only in a dry run. */
  @Int32()
  refused?: number;
  /** Every line; only in a dry run. */
  lines?: LineFateDto[];
}
