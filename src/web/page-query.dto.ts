import { TextField, NumberParam } from './fields';

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 50;

/** Which part of a list is asked for. */
export class PageQuery {
  /**
   * At most so many rows.
   * @example 50
   */
  @NumberParam(1, MAX_LIMIT) limit?: number = DEFAULT_LIMIT;
  /** `nextCursor` of the page before, with the same filters. */
  @TextField(4096) cursor?: string;
}
