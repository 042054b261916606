import fc from 'fast-check';
import { csvLine, CsvProblem, parseCsv } from './csv';
import { SEEDED } from '../../test/support/long-run';

const cell = fc.option(fc.string({ unit: 'grapheme', maxLength: 8 }), { nil: null });
const isBlank = (cells: (string | null)[]) =>
  cells.every((each) => each === null || (each !== '' && each.trim() === ''));
const row = fc.array(cell, { minLength: 2, maxLength: 5 });

describe('comma-separated values', () => {
  it('come back as they were written, null and the empty text told apart', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
        const text = rows.map(csvLine).join('');
        expect([...parseCsv(text)].map(({ cells }) => cells)).toEqual(
          rows.filter((cells) => !isBlank(cells)),
        );
      }),
      { numRuns: 1000, ...SEEDED },
    );
  });

  it('are told by the line they begin on, across line breaks in quotes and of every kind', () => {
    const records = [...parseCsv('\ufeffa,b\r\n"x\ny",2\n\n3,4\r5,6')];
    expect(records).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x\ny', '2'] },
      { line: 5, cells: ['3', '4'] },
      { line: 6, cells: ['5', '6'] },
    ]);
  });

  it('are skipped where a line is blank, as spreadsheets leave them at the end', () => {
    expect([...parseCsv('a,b\r\n,\r\n \r\n\r\n"",\r\n')].map(({ cells }) => cells)).toEqual([
      ['a', 'b'],
      ['', null],
    ]);
  });

  it('are not read beyond as many cells as anybody means', () => {
    const wide = `${','.repeat(1_000_000)}\nx,y`;
    const records = [...parseCsv(`a${wide}`, 10)];
    expect(records.map(({ line, cells }) => [line, cells.length])).toEqual([
      [1, 11],
      [2, 2],
    ]);
  });

  it('may be as long as a file', () => {
    const long = 'z'.repeat(5_000_000);
    expect([...parseCsv(`q,"${long}"`)][0]!.cells[1]).toHaveLength(5_000_000);
  });

  it.each(['a,"b', 'a\n"b"c,d', 'a,b"c'])('refuses broken quotes: %j', (text) => {
    expect(() => [...parseCsv(text)]).toThrow(CsvProblem);
  });
});
