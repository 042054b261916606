/** What a file of departments may hold. */

export const MAX_BYTES = 16 * 1024 * 1024;
export const MAX_DEPTS = 20_000;
/** Blank ones and line breaks in quotes included. */
export const MAX_LINES = 100_000;
