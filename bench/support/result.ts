import type { Bed } from './bed';
import { ratiosOf, round, show, spreadOf } from './figures';

/** A line of the table of bounds. */
export interface Result {
  readonly work: string;
  readonly baseline: string;
  readonly figure: string;
  readonly bound: string;
  /** Null where nothing is bounded. */
  readonly ok: boolean | null;
  readonly details: string;
  /** The figure as a number: the ratio, or the value. */
  readonly value?: number;
  /** Of a ratio, what the work itself took, such as `88.9 ms`. */
  readonly cost?: string;
}

/** A line of the table of operations: CPU of the server process per request, in microseconds. */
export interface OperationResult {
  readonly name: string;
  readonly service: number;
  readonly smallest: number;
  readonly express: number;
  /** Against the smallest Nest application. */
  readonly ratio: number;
  readonly bound: number;
  /** What a textbook Nest application costs in relation to the service; null where it has no such operation. */
  readonly textbookRatio: number | null;
  readonly statements: readonly [service: number, baseline: number];
  readonly ok: boolean;
  readonly details: string;
}

/** All that was measured on one database, with its name and version. */
export interface Found {
  readonly operations: readonly OperationResult[];
  readonly bounds: readonly Result[];
  readonly version: string;
}

export interface Measure {
  readonly name: string;
  readonly run: (bed: Bed) => Promise<Result[]>;
}

/** What is measured against what; a bound of null is only reported. */
export interface Heading {
  readonly work: string;
  readonly baseline: string;
  readonly bound: number | null;
}

export function ratioResult(
  { work, baseline, bound }: Heading,
  costs: readonly number[],
  baselineCosts: readonly number[],
  unit: string,
): Result {
  const ratios = ratiosOf(costs, baselineCosts);
  const range = `ratio ${ratios.min.toFixed(2)}–${ratios.max.toFixed(2)}`;
  return {
    work,
    baseline,
    figure: `${ratios.median.toFixed(2)} ×`,
    bound: bound === null ? '' : `≤ ${bound} ×`,
    ok: bound === null ? null : ratios.median <= bound,
    value: ratios.median,
    cost: `${round(spreadOf(costs).median)} ${unit}`,
    details: `${show(spreadOf(costs), unit)} against ${show(spreadOf(baselineCosts), unit)}; ${range}`,
  };
}

/** A figure of its own, which may not be above its bound. */
export function figureResult(
  { work, baseline, bound }: Heading,
  value: number,
  unit: string,
  details = '',
): Result {
  return {
    work,
    baseline,
    figure: `${Number.isInteger(value) ? value : round(value)} ${unit}`.trim(),
    bound: bound === null ? '' : `≤ ${bound} ${unit}`.trim(),
    ok: bound === null ? null : value <= bound,
    value,
    details,
  };
}
