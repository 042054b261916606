const ID = '(0|[1-9][0-9]{0,15})';
const DECIMAL = new RegExp(`^${ID}$`);

/** Numeric ids separated by commas. */
export const ID_LIST = `^${ID}(,${ID})*$`;

/** Reads an id sent as a JSON number or as a decimal string; null when it is neither. */
export function parseNumericId(value: unknown): number | null {
  const id = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
  return Number.isSafeInteger(id) && (id as number) >= 0 ? (id as number) : null;
}

/** A snowflake id, which no JSON number holds. */
export const TEXT_ID = '^[1-9][0-9]{0,18}$';
const textId = new RegExp(TEXT_ID);

/** Whether this is a snowflake id, which always travels as text. */
export function isTextId(value: unknown): value is string {
  return typeof value === 'string' && textId.test(value);
}
