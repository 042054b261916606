import { isEmail } from 'class-validator';

/** What values of fields must be like. Pure: for bodies, for addresses, and for the lines of a file. */

export const INTEGER_MIN = -(2 ** 31);
export const INTEGER_MAX = 2 ** 31 - 1;
/** How many ids one request may name. */
export const MAX_IDS = 500;

const ID = '(0|[1-9][0-9]{0,15})';
const DECIMAL = new RegExp(`^${ID}$`);
/** Numeric ids separated by commas. */
export const ID_LIST = `^${ID}(,${ID})*$`;
/** A snowflake id: always a text, because no JSON number holds it. */
export const TEXT_ID = '^[1-9][0-9]{0,18}$';
const textId = new RegExp(TEXT_ID);

/** Counts characters as people and the database do: an emoji is one. */
function fits(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max);
}

/** SQLite ends a text at NUL; half a surrogate pair is no character at all. */
export function isClean(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed();
}

export function isText(value: unknown, max: number): value is string {
  return isClean(value) && fits(value, max);
}

/** The empty text is allowed. */
export function isEmailText(value: unknown, max: number): value is string {
  return isText(value, max) && (value === '' || isEmail(value));
}

export function isInteger(value: unknown, min = INTEGER_MIN, max = INTEGER_MAX): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** A calendar day, `YYYY-MM-DD`. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)) return false;
  const day = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value) && value >= '0001';
}

/** Reads an id sent as a JSON number or as a decimal string; null when it is neither. */
export function parseNumericId(value: unknown): number | null {
  const id = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
  return Number.isSafeInteger(id) && (id as number) >= 0 ? (id as number) : null;
}

export function isTextId(value: unknown): value is string {
  return typeof value === 'string' && textId.test(value);
}
