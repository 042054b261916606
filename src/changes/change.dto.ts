import type { ApiPropertyOptions } from '@nestjs/swagger';
import { CHANGE_KINDS, OPERATIONS, type ChangeKind, type ChangeOperation } from '../journal/change-log';
import { ChoiceParam, NumberParam, optional, SearchParam, TextField } from '../web/fields';
import { TEXT_ID } from '../web/field-rules';

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 100;
const MAX_WAIT_S = 25;

const SEPARATED_BY_COMMAS = { style: 'form', explode: false };

/** Kinds of resources, separated by commas, optional. */
export function KindsParam(): PropertyDecorator {
  const list = CHANGE_KINDS.join(', ');
  const schema: ApiPropertyOptions = { type: 'array', items: { type: 'string', enum: [...CHANGE_KINDS] } };
  return optional({
    schema: { ...schema, ...SEPARATED_BY_COMMAS },
    read: (value) => (typeof value === 'string' ? [...new Set(value.split(','))] : value),
    check: (value) =>
      Array.isArray(value) && value.every((kind) => CHANGE_KINDS.includes(kind as ChangeKind)),
    zh: `必须为逗号分隔的类型，可选值：${list}`,
    en: `must be kinds separated by commas: ${list}`,
  });
}

/** Which changes are asked for. */
export class ChangeQuery {
  /** `nextCursor` of the page before, or `X-Change-Cursor` of a list; `now` gives only a cursor. Default: the oldest that is kept. */
  @TextField(4096)
  after?: string;
  /** Only of these kinds. Default: all of them. @example ["dept", "user"] */
  @KindsParam()
  kinds?: ChangeKind[];
  /** Only of this kind. */
  @ChoiceParam(...CHANGE_KINDS)
  kind?: ChangeKind;
  /** Only what was done in this way. */
  @ChoiceParam(...OPERATIONS)
  operation?: ChangeOperation;
  /** Only of the resource with this id. */
  @ResourceIdParam()
  id?: string;
  /** Only by the account of this name. */
  @SearchParam(64)
  by?: string;
  /** Not before: `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS` in the service's time zone, or ISO 8601. */
  @TextField(40)
  from?: string;
  /** Not after; a day is meant whole. */
  @TextField(40)
  to?: string;
  /** `desc` is the newest first. */
  @ChoiceParam('asc', 'desc')
  order?: string;
  /** The most rows to return. @example 100 */
  @NumberParam(1, MAX_LIMIT)
  limit?: number = DEFAULT_LIMIT;
  /** How many seconds to wait for a change when there is none yet. */
  @NumberParam(0, MAX_WAIT_S)
  wait?: number;
}

function ResourceIdParam(): PropertyDecorator {
  return optional({
    schema: { type: 'string', pattern: TEXT_ID },
    check: (value) => typeof value === 'string' && new RegExp(TEXT_ID).test(value),
    zh: '必须为数字 ID',
    en: 'must be a decimal id',
  });
}
