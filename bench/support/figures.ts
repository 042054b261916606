/** The middle one, and how far the others lie from it. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** The value that so great a part of the others does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

/** `12.3 µs (11.0–14.1)` */
export function show({ median, min, max }: Spread, unit: string): string {
  return `${round(median)} ${unit} (${round(min)}–${round(max)})`;
}

export function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** One of those that are compared: does its part of a round and gives what that cost. */
export type Side = () => Promise<number>;

/** Lets the sides take turns: what else the machine does hits all of them. Gives the costs by side. */
export async function interleave(sides: readonly Side[], rounds: number): Promise<number[][]> {
  const costs = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, side] of sides.entries()) costs[at]?.push(await side());
  }
  return costs;
}

/** What the work cost in relation to its baseline, round by round. */
export function ratiosOf(work: readonly number[], baseline: readonly number[]): Spread {
  return spreadOf(work.map((cost, round) => cost / (baseline[round] ?? NaN)));
}
