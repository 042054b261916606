import type { Bed } from './bed';
import type { Comparison } from './compare';
import { round, show } from './figures';

/** A line of the table. */
export interface Result {
  readonly work: string;
  readonly baseline: string;
  /** The ratio or number that is held against the bound. */
  readonly figure: string;
  readonly bound: string;
  readonly aim: string;
  /** Null where nothing is bounded. */
  readonly ok: boolean | null;
  /** Absolute figures. */
  readonly details: string;
}

export interface Measure {
  readonly name: string;
  run(bed: Bed): Promise<Result[]>;
}

/** What is measured against what. */
export interface Heading {
  readonly work: string;
  readonly baseline: string;
  /** The highest ratio; null where it is only told. */
  readonly bound: number | null;
  readonly aim?: number;
}

export function ratioResult(
  { work, baseline, bound, aim }: Heading,
  found: Comparison,
  unit: string,
): Result {
  const sets = found.sets > 1 ? `, better of ${found.sets} sets` : '';
  return {
    work,
    baseline,
    figure: `${found.ratio.toFixed(2)} ×`,
    bound: bound === null ? '' : `≤ ${bound} ×`,
    aim: aim === undefined ? '' : `≤ ${aim} ×`,
    ok: bound === null ? null : found.ratio <= bound,
    details:
      `${show(found.work, unit)} against ${show(found.baseline, unit)}; ` +
      `ratio ${found.ratios.min.toFixed(2)}–${found.ratios.max.toFixed(2)}${sets}`,
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
    aim: '',
    ok: bound === null ? null : value <= bound,
    details,
  };
}
