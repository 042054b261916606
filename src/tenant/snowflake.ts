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
