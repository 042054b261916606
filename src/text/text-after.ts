const LAST = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 };

/**
 * The smallest text that comes after every text that begins with this one, where texts are ordered by their code points
 * (as bytes of UTF-8 are); null when nothing does. Pure.
 */
export function textAfter(text: string): string | null {
  const characters = Array.from(text);
  while (characters.length > 0) {
    const next = (characters.pop()?.codePointAt(0) ?? LAST) + 1;
    if (next > LAST) continue;
    const whole = next === SURROGATES.first ? SURROGATES.after : next;
    return characters.join('') + String.fromCodePoint(whole);
  }
  return null;
}
