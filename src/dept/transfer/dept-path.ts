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
const NUMBERED = /^(.*?)(?:#([1-9][0-9]{0,5}))?$/su;

export function formatStep({ name, nth }: PathStep): string {
  if (nth === 1 && !MAY_NEED_ESCAPES.test(name)) return name;
  const escaped = name.replace(/[\\/]/g, '\\$&').replace(LOOKS_NUMBERED, '\\#');
  return nth === 1 ? escaped : `${escaped}#${nth}`;
}

export function formatPath(steps: readonly PathStep[]): string {
  return steps.map(formatStep).join('/');
}

/** Null when it is not a path: a `\` at its end escapes nothing. */
export function parsePath(text: string): PathStep[] | null {
  const steps: PathStep[] = [];
  let begin = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (text[at] === '\\') {
      at += 1;
      if (at === text.length) return null;
    } else if (at === text.length || text[at] === '/') {
      steps.push(parseStep(text.slice(begin, at)));
      begin = at + 1;
    }
  }
  return steps;
}

function parseStep(raw: string): PathStep {
  // A number at the end counts only when its # is not escaped: an even number of backslashes before it, or none.
  const [, before = '', nth = '1'] = NUMBERED.exec(raw) ?? [];
  const escaped = (/\\*$/.exec(before)?.[0].length ?? 0) % 2 === 1;
  const name = escaped ? raw : before;
  return { name: name.replace(/\\(.)/gsu, '$1').trim(), nth: escaped ? 1 : Number(nth) };
}
