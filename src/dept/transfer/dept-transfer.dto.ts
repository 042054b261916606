import { FlagParam } from '../../http/query-fields';
import type { Fate } from './import-plan';

/** How a file is taken. */
export class ImportQuery {
  /** Only say what would become of every line. */
  @FlagParam()
  dryRun?: boolean;
}

/** What becomes of one line. */
export class LineFateDto {
  line!: number;
  fate!: Fate | 'refused';
  /** What is wrong with a line that is refused. */
  problems?: { field: string; message: string }[];
}

/** What a file did, or would do. */
export class ImportReportDto {
  created!: number;
  updated!: number;
  unchanged!: number;
  /** Lines that cannot be taken; only in a dry run. */
  refused?: number;
  /** Every line; only in a dry run. */
  lines?: LineFateDto[];
}
