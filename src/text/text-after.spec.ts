import fc from 'fast-check';
import { textAfter } from './text-after';
import { SEEDED } from '../../test/support/long-run';

const bytes = (text: string) => Buffer.from(text);
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });

describe('the text after all that begin with another', () => {
  it.each([
    ['研', '砕'],
    ['a', 'b'],
    ['😀', '😁'],
    ['\ud7ff', '\ue000'],
    ['a\u{10ffff}', 'b'],
    ['\u{10ffff}', null],
  ])('%j → %j', (from, to) => {
    expect(textAfter(from)).toBe(to);
  });

  it('is a bound: inside it is exactly what begins with the text', () => {
    fc.assert(
      fc.property(text, text, (start, other) => {
        const [from, to] = [bytes(start), bytes(textAfter(start) ?? '')];
        const inRange = (value: string) => from.compare(bytes(value)) <= 0 && to.compare(bytes(value)) > 0;
        expect(inRange(start + other)).toBe(true);
        expect(inRange(other)).toBe(other.startsWith(start));
      }),
      { numRuns: 1000, ...SEEDED },
    );
  });
});
