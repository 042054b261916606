import { jsonLength, placeIn, utf8Length } from './text-position';

describe('the place where a text is broken', () => {
  it.each([
    ['', 0],
    ['{', 1],
    ['{"a":', 5],
    ['{"a":x}', 5],
    ['{"a":1 "b":2}', 7],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['[1,2', 4],
    ['[1,,2]', 3],
    ['{"a":[{"b":null}],"c":tru}', 22],
    ['{"a":"x\ny"}', 7],
    ['{"a":"\\x"}', 6],
    ['{"a":01}', 6],
    ['{} {}', 3],
    ['\ufeff{}', 0],
    ['"a', 2],
    ['{"a":"b', 7],
  ])('the place where JSON is broken is told: %j', (text, at) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(jsonLength(text)).toBe(at);
  });

  it.each([
    '{}',
    '[]',
    ' {"a" : [ 1 , -2.5e+3, "\u007f\ud800", true , {"b":"\\u00e9\\n\\"ü😀"}, [] ] , "c":null } ',
    '"x"',
    '0',
    `${'['.repeat(40)}${']'.repeat(40)}`,
  ])('the place where JSON is broken is the end of what is JSON: %j', (text) => {
    JSON.parse(text);
    expect(jsonLength(text)).toBe(text.length);
  });

  it('the place where a text is broken is told as editors count it', () => {
    expect(placeIn('a\nbc\r\nd', 7).en).toBe('line 3, column 2');
    expect(placeIn('', 0)).toEqual({ zh: '第 1 行第 1 列', en: 'line 1, column 1' });
  });

  it('the place where UTF-8 is broken is told by bytes', () => {
    const bytes = Buffer.from('aé😀z');
    expect(utf8Length(bytes)).toBe(bytes.length);
    expect(utf8Length(Buffer.concat([bytes, Buffer.from([0xff]), bytes]))).toBe(bytes.length);
    expect(utf8Length(Buffer.from([0x61, 0xed, 0xa0, 0x80]))).toBe(1);
    expect(utf8Length(Buffer.from('\ufeffa\ufffd'))).toBe(7);
    expect(utf8Length(Buffer.from([]))).toBe(0);
  });
});
