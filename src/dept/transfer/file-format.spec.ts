import fc from 'fast-check';
import type { BrokenFile } from './dept-line';
import { csvCells, csvLine, guarded, isBlank, unguarded } from './file-format';
import { LineSplitter, MAX_LINE_LENGTH } from './read-file';
import { SEEDED } from '../../../test/support/long-run';

/** Reads a text in parts of so many characters. */
function parse(text: string, size = 7, mostCells?: number) {
  const splitter = new LineSplitter(true);
  const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
    text.slice(n * size, (n + 1) * size),
  );
  return [...parts.flatMap((part) => [...splitter.push(part)]), ...splitter.push(null)]
    .map((line) => ({ line: line.line, cells: csvCells(line, mostCells) }))
    .filter(({ cells }) => !isBlank(cells));
}

function problemOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return (error as BrokenFile).problem;
  }
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const row = fc.array(fc.option(text, { nil: null }), { minLength: 2, maxLength: 5 });

describe('comma-separated values', () => {
  it('CSV comes back as it was written, null and the empty text told apart, in parts of any size', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (rows, size) => {
        expect(parse(rows.map(csvLine).join(''), size).map(({ cells }) => cells)).toEqual(
          rows.filter((cells) => !isBlank(cells)),
        );
      }),
      { numRuns: 1000, ...SEEDED },
    );
  });

  it.each([1, 2, 3, 100])(
    'rows of CSV are told by the line they begin on, across line breaks in quotes and of every kind, in parts of %d',
    (size) => {
      expect(parse('a,b\r\n"x\ny",2\n\n3,4\r5,6\r', size)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 2, cells: ['x\ny', '2'] },
        { line: 5, cells: ['3', '4'] },
        { line: 6, cells: ['5', '6'] },
      ]);
    },
  );

  it('blank lines of CSV are skipped, as spreadsheets leave them at the end', () => {
    expect(parse('a,b\r\n,\r\n \r\n\r\n"",\r\n').map(({ cells }) => cells)).toEqual([
      ['a', 'b'],
      ['', null],
    ]);
  });

  it('CSV is not read beyond as many cells as anybody means', () => {
    const records = parse(`a${','.repeat(60_000)}\nx,y`, 1000, 10);
    expect(records.map(({ line, cells }) => [line, cells.length])).toEqual([
      [1, 11],
      [2, 2],
    ]);
  });

  it.each([
    ['a,"b', 1],
    ['a\n"b"c,d', 2],
    ['a,b"c', 1],
    ['a\n"x\ny","z', 3],
  ])('CSV with broken quotes is refused: %j', (broken, line) => {
    expect(problemOf(() => parse(broken))).toMatchObject({
      line,
      message: { en: expect.stringMatching(/unclosed quote/) as string },
    });
  });

  it.each(['"', 'a', '""\n'])(
    'CSV with a line that is too long is refused, long before its end: %j',
    (piece) => {
      const splitter = new LineSplitter(true);
      expect([...splitter.push(piece === '""\n' ? 'ok\n"' : 'ok\n')]).toEqual([{ line: 1, text: 'ok' }]);
      const parts = Array(3).fill(piece.repeat(MAX_LINE_LENGTH / 2)) as string[];
      const problem = problemOf(() => parts.map((part) => [...splitter.push(part)]));
      expect(problem).toMatchObject({
        line: 2,
        message: { en: expect.stringMatching(/^is longer/) as string },
      });
    },
  );
});

describe('cells that a spreadsheet would take for formulas', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ["'=1+1", "''=1+1"],
    ['+86 10', "'+86 10"],
    ['－1', "'－1"],
    ["'x", "'x"],
    ["it's", "it's"],
    ['', ''],
  ])('the cell %j is written %j', (value, written) => {
    expect([guarded(value), unguarded(written)]).toEqual([written, value]);
  });

  it('cells that look like formulas come back as they were, whatever they are', () => {
    const any = fc.oneof(text, fc.stringMatching(/^'{0,3}[=+\-@\t\ra']{0,3}$/));
    fc.assert(fc.property(any, (value) => unguarded(guarded(value)) === value));
    fc.assert(fc.property(any, (value) => !/^[=+\-@＝＋－＠\t\r]/.test(guarded(value))));
  });
});
