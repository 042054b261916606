import { HttpException } from '@nestjs/common';

/** One row of an error catalogue: what went wrong, as a constant for programs and as texts for people. */
export interface ErrorRow {
  /** Stable constant that clients branch on. */
  readonly reason: string;
  /** HTTP status and envelope `code`. */
  readonly status: number;
  readonly zh: string;
  readonly en: string;
  /** The request's field that is always the one at fault. */
  readonly field?: string;
  /** Ids such as it names, for the documentation; only on refusals that name the ids at fault. */
  readonly ids?: readonly (number | string)[];
  /** What it may say is available, for the documentation; only on refusals that tell it. */
  readonly available?: number;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfter?: number;
}

/** A text in both languages of the service. */
export interface Bilingual {
  readonly zh: string;
  readonly en: string;
}

/** One wrong field of a request. */
export interface FieldProblem {
  /** Of a file: the line, from 1. */
  readonly line?: number;
  readonly field: string;
  readonly message: Bilingual;
}

export interface RefusalDetails {
  readonly ids?: readonly (number | string)[];
  readonly fields?: readonly FieldProblem[];
  /** Of a quota. */
  readonly available?: number;
}

/** A refusal as a host's own exception filter sees it. */
export interface RefusalResponse {
  readonly statusCode: number;
  readonly reason: string;
  readonly message: string;
  readonly fields?: readonly { readonly line?: number; readonly field: string; readonly message: string }[];
  readonly ids?: readonly (number | string)[];
  readonly available?: number;
}

/**
 * A request refused for a reason of the catalogue. Our exception filter turns it into the answer; in a host's own
 * routes it is an exception of Nest, so that the host's filters answer with the right status.
 */
export class Refusal extends HttpException {
  readonly details: RefusalDetails;

  constructor(
    readonly row: ErrorRow,
    details: RefusalDetails = {},
  ) {
    const whole =
      row.field === undefined ? details : { fields: [{ field: row.field, message: row }], ...details };
    super(responseOf(row, whole), row.status);
    this.message = `${row.reason}: ${row.en}`;
    this.details = whole;
  }
}

function responseOf(
  { status, reason, en }: ErrorRow,
  { fields, ids, available }: RefusalDetails,
): RefusalResponse {
  return {
    statusCode: status,
    reason,
    message: en,
    ...(fields && { fields: fields.map(({ message, ...where }) => ({ ...where, message: message.en })) }),
    ...(ids && { ids }),
    ...(available !== undefined && { available }),
  };
}

/** Makes the refusal of one row; carries the row, so that documentation and tests can list it. */
export type RefusalFactory = ((details?: RefusalDetails) => Refusal) & { readonly row: ErrorRow };

/** Turns a table of rows into the functions that throw sites call: `throw DeptErrors.HAS_CHILDREN({ ids })`. */
export function defineErrors<K extends string>(
  rows: Record<K, ErrorRow>,
): Readonly<Record<K, RefusalFactory>> {
  const factories = Object.entries<ErrorRow>(rows).map(([key, row]) => [
    key,
    Object.assign((details?: RefusalDetails) => new Refusal(row, details), { row }),
  ]);
  return Object.freeze(Object.fromEntries(factories) as Record<K, RefusalFactory>);
}
