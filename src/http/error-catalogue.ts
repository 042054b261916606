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
  readonly field: string;
  readonly message: Bilingual;
}

export interface RefusalDetails {
  readonly ids?: readonly (number | string)[];
  readonly fields?: readonly FieldProblem[];
}

/** A request refused for a reason of the catalogue; the exception filter turns it into the answer. */
export class Refusal extends Error {
  readonly details: RefusalDetails;

  constructor(
    readonly row: ErrorRow,
    details: RefusalDetails = {},
  ) {
    super(`${row.reason}: ${row.en}`);
    this.name = 'Refusal';
    this.details =
      row.field === undefined ? details : { fields: [{ field: row.field, message: row }], ...details };
  }
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
