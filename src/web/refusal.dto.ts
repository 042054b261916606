import { AnyIds, Int32, Int64 } from './view-fields';

/** One wrong field of a request. */
export class FieldProblemDto {
  /** Of a file: the line, from 1. */
  @Int32() line?: number;
  /** @example parentId */
  field!: string;
  /** @example "must be a decimal id of at most 2^53-1" */
  message!: string;
}

/** Why a request was refused. */
export class RefusalDto {
  /** A constant to branch on. */
  reason!: string;
  /**
   * The request's id, as in the header `X-Request-Id` and in the log.
   * @example 7b0f6c52-1d7c-4a52-9d3e-5a1f0b8f2a11
   */
  requestId!: string;
  /** The invalid fields, for reasons that are about fields. */
  fields?: FieldProblemDto[];
  /** The ids that caused the refusal, where there may be several. */
  @AnyIds() ids?: (number | string)[];
  /** How much of a quota is available, where there was not enough. */
  @Int64() available?: number;
  /** The permission that is missing. @example dept:write */
  permission?: string;
}

/** The answer to a request that was refused. */
export class RefusalEnvelope {
  /** The same number as the HTTP status. */
  @Int32() code!: number;
  /** For people: Chinese, or English when `Accept-Language` prefers it. */
  msg!: string;
  data!: RefusalDto;
}
