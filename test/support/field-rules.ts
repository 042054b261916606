/** What a field takes, what it becomes without a value, and what it refuses. */
export interface FieldRule {
  readonly field: string;
  /** Read back when it is not sent, or null. */
  readonly reset: unknown;
  readonly kept: readonly unknown[];
  readonly changed?: readonly (readonly [sent: unknown, read: unknown])[];
  readonly refused: readonly unknown[];
}

const NO_TEXT = [5, true, [], ['a'], {}, 'nul\0', '\ud800'];

/** A text of at most so many characters, whose blanks are cut off. */
export function textField(field: string, max: number, more: Partial<FieldRule> = {}): FieldRule {
  const kept = ['', 'a'.repeat(max), '部'.repeat(max), '😀'.repeat(max), '"\'\\%_;--', 'x\ny', '+86 21'];
  const changed = [
    ['  a  ', 'a'],
    ['   ', ''],
  ] as const;
  const refused = ['a'.repeat(max + 1), '😀'.repeat(max + 1), ...NO_TEXT];
  return { field, reset: null, kept, changed, refused, ...more };
}
