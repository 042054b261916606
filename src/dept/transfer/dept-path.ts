/**
 * Paths of names, without ids: `总公司/研发部`. In a name, `/` and `\` are written with a `\` before them. Of siblings with
 * the same name, the second is written `研发部#2`; a name that itself ends so has a `\` before its `#`. Pure.
 */

/** One step of a path: a name, and which of the siblings that have it. */
export interface PathStep {
  readonly name: string;
  /** From 1. */
  readonly nth: number;
}

const LOOKS_NUMBERED = /#(?=[0-9]+$)/;
/** Few names hold any of these. */
const MAY_NEED_ESCAPES = /[\\/#]/;
const NUMBER = /#([1-9][0-9]{0,5})$/;

export function formatStep({ name, nth }: PathStep): string {
  if (nth === 1 && !MAY_NEED_ESCAPES.test(name)) return name;
  const escaped = name.replace(/[\\/]/g, '\\$&').replace(LOOKS_NUMBERED, '\\#');
  return nth === 1 ? escaped : `${escaped}#${nth}`;
}

export function formatPath(steps: readonly PathStep[]): string {
  return steps.map(formatStep).join('/');
}

/** Null when it is not a path: a `\` at its end escapes nothing, or it has more steps than allowed. */
export function parsePath(text: string, mostSteps = Infinity): PathStep[] | null {
  const steps: PathStep[] = [];
  for (let at = 0; at <= text.length && steps.length < mostSteps;) {
    const end = endOfStep(text, at);
    if (end > text.length) return null;
    steps.push(stepBetween(text, at, end));
    at = end + 1;
    if (end === text.length) return steps;
  }
  return null;
}

/** Where the step that begins at this place ends; beyond the text when a `\` at its end escapes nothing. */
export function endOfStep(text: string, begin: number): number {
  let at = begin;
  for (; at < text.length && text[at] !== '/'; at += 1) if (text[at] === '\\') at += 1;
  return at;
}

export function stepBetween(text: string, begin: number, end: number): PathStep {
  const raw = text.slice(begin, end);
  const number = NUMBER.exec(raw);
  // It counts only when its # is not escaped: an even number of backslashes before it, or none.
  if (!number || backslashesBefore(raw, number.index) % 2 === 1) return { name: unescaped(raw), nth: 1 };
  return { name: unescaped(raw.slice(0, number.index)), nth: Number(number[1]) };
}

function backslashesBefore(text: string, end: number): number {
  let begin = end;
  while (text[begin - 1] === '\\') begin -= 1;
  return end - begin;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gsu, '$1').trim();
}
