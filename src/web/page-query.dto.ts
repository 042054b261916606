import { DEFAULT_LIMIT } from '../database/page';
import { TextField, NumberParam } from './fields';

const MAX_LIMIT = 500;

/** Which part of a list is asked for. */
export class PageQuery {
  /** The most rows to return. @example 50 */
  @NumberParam(1, MAX_LIMIT) limit?: number = DEFAULT_LIMIT;
  /** `nextCursor` of the previous page; send the same filters. */
  @TextField(4096) cursor?: string;
}
