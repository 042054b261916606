import { HttpException } from '@nestjs/common';

/** A text in both languages of the service. */
export interface Bilingual {
  readonly zh: string;
  readonly en: string;
}

/** One row of an error catalogue: what went wrong, as a constant for programs and as texts for people. */
export interface ErrorRow extends Bilingual {
  /** Stable constant that clients branch on. */
  readonly reason: string;
  /** HTTP status and envelope `code`. */
  readonly status: number;
  /** The request's field that is always the one at fault. */
  readonly field?: string;
  /** Ids such as it names, for the documentation; only on refusals that name the ids at fault. */
  readonly ids?: readonly (number | string)[];
  /** What it may say is available, for the documentation; only on refusals that tell it. */
  readonly available?: number;
  /** The permission that it says is missing, for the documentation; only on the refusal that tells it. */
  readonly permission?: string;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfter?: number;
}

/** One wrong field of a request. */
export interface FieldProblem {
  /** Of a file: the line, from 1. */
  readonly line?: number;
  /** Of many resources at once: the one. */
  readonly id?: number | string;
  readonly field: string;
  readonly message: Bilingual;
}

export interface RefusalDetails {
  readonly ids?: readonly (number | string)[];
  readonly fields?: readonly FieldProblem[];
  /** Of a quota. */
  readonly available?: number;
  /** The one that is missing. */
  readonly permission?: string;
}

/** What a refusal tells beside its reason, in one language. */
interface DetailsInOneLanguage {
  readonly fields?: readonly (Omit<FieldProblem, 'message'> & { readonly message: string })[];
  readonly ids?: readonly (number | string)[];
  readonly available?: number;
  readonly permission?: string;
}

/** A refusal as a host's own exception filter sees it. */
export interface RefusalResponse extends DetailsInOneLanguage {
  readonly statusCode: number;
  readonly reason: string;
  readonly message: string;
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
    const { status, reason, en } = row;
    const response: RefusalResponse = { statusCode: status, reason, message: en, ...detailsIn('en', whole) };
    super(response, status);
    this.message = `${reason}: ${en}`;
    this.details = whole;
  }

  override getResponse(): RefusalResponse {
    return super.getResponse() as RefusalResponse;
  }
}

export function detailsIn(language: keyof Bilingual, details: RefusalDetails): DetailsInOneLanguage {
  const { fields, ...others } = details;
  const inOne = ({ message, ...where }: FieldProblem) => ({ ...where, message: message[language] });
  return { ...(fields && { fields: fields.map(inOne) }), ...others };
}

/** Makes the refusal of one row; carries the row, so that documentation and tests can list it. */
export type RefusalFactory = ((details?: RefusalDetails) => Refusal) & { readonly row: ErrorRow };

/** One row of a catalogue: `CYCLE: refusal(409, 'DEPT_CYCLE').zh('…').en('…')`; to be thrown as `DeptErrors.CYCLE({ ids })`. */
export function refusal(
  status: number,
  reason: string,
  more: Omit<ErrorRow, keyof Bilingual | 'status' | 'reason'> = {},
): { zh(zh: string): { en(en: string): RefusalFactory } } {
  const factoryOf = (row: ErrorRow): RefusalFactory =>
    Object.assign((details?: RefusalDetails) => new Refusal(row, details), { row });
  return { zh: (zh: string) => ({ en: (en: string) => factoryOf({ reason, status, zh, en, ...more }) }) };
}
