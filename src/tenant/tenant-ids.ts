import { randomInt } from 'node:crypto';

/** Snowflake ids: 41 bits of milliseconds since EPOCH, then 22 bits that count up within a millisecond. Pure. */

const EPOCH = Date.UTC(2024, 0, 1);
const SEQUENCE_BITS = 22n;

/** The first id of a millisecond. A clock before EPOCH gives the first id of all. */
export function snowflakeAt(milliseconds: number): bigint {
  return BigInt(Math.max(milliseconds - EPOCH, 1)) << SEQUENCE_BITS;
}

/** An id after `last`: of this millisecond, or the next number when the clock stands still or steps back. */
export function nextSnowflake(now: number, last: bigint): bigint {
  const first = snowflakeAt(now);
  return first > last ? first : last + 1n;
}

/** Codes have six digits; more once those are (all but) used up. */
const FEWEST_DIGITS = 6;
const MOST_DIGITS = 14;
const CANDIDATES = 16;

/** Draws different random codes of so many digits, none with a leading zero. */
function draw(digits: number): string[] {
  const first = 10 ** (digits - 1);
  return [...new Set(Array.from({ length: CANDIDATES }, () => String(randomInt(first, 10 * first))))];
}

/**
 * Finds a code that no tenant has or ever had. Random, as clients of this API family know it: a code does not
 * tell how many tenants there are.
 */
export async function freeTenantCode(findTaken: (codes: string[]) => Promise<string[]>): Promise<string> {
  for (let digits = FEWEST_DIGITS; digits <= MOST_DIGITS; digits += 1) {
    const codes = draw(digits);
    const taken = new Set(await findTaken(codes));
    const free = codes.find((code) => !taken.has(code));
    if (free !== undefined) return free;
  }
  throw new Error('There is no free tenant code.');
}
