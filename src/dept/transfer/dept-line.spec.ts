import fc from 'fast-check';
import { formatPath, parsePath } from './dept-line';
import { SEEDED } from '../../../test/support/long-run';

const name = fc
  .oneof(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.stringMatching(/^[\\/#0-9a研]{0,6}$/))
  .map((text) => text.trim());
const step = fc.record({ name, nth: fc.integer({ min: 1, max: 999_999 }) });

describe('paths of names', () => {
  it.each([
    [
      '总公司/研发部',
      [
        ['总公司', 1],
        ['研发部', 1],
      ],
    ],
    [
      'a/b#2',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'a\\/b/c\\\\',
      [
        ['a/b', 1],
        ['c\\', 1],
      ],
    ],
    ['C\\#2', [['C#2', 1]]],
    ['C#', [['C#', 1]]],
    ['', [['', 1]]],
    [
      '/',
      [
        ['', 1],
        ['', 1],
      ],
    ],
    ['#2', [['', 2]]],
  ])('the path %j is read and written', (text, steps) => {
    expect(parsePath(text)).toEqual(steps.map(([each, nth]) => ({ name: each, nth })));
    expect(formatPath(parsePath(text)!)).toBe(text);
  });

  it('paths of names say the same when read as when written', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        expect(parsePath(formatPath(steps))).toEqual(steps);
      }),
      { numRuns: 2000, ...SEEDED },
    );
  });

  it('paths of names do not end with an escape of nothing', () => {
    expect(parsePath('a\\')).toBeNull();
  });
});
