import type { Answer } from '../../src/server/testing';

/** Expects a refusal with this status and reason; `told` is what was sent, for the message of a failure. */
export function expectRefused(
  { status, refusal }: Answer,
  expected: number,
  reason: string,
  { told, ...more }: { told?: unknown; ids?: readonly (number | string)[] } = {},
): void {
  expect({ told, status, ...refusal }).toMatchObject({ told, status: expected, reason, ...more });
}

/** Expects a 400 whose first wrong field is this one; `told` is what was sent. */
export function expectInvalid({ status, refusal }: Answer, field: string, told?: unknown): void {
  expect([told, status, refusal.fields?.[0]?.field]).toEqual([told, 400, field]);
}
