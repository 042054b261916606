import type { Chance } from '../chance';

/** Texts that have broken something somewhere. */
const TEXTS: readonly string[] = [
  ...['', ' ', '\t\r\n', '\0', 'a\0b', '\u0001\u001f\u007f\u0085', '\ufeff', '\u200b\u200d\u2060', '\u00a0'],
  ...['\ud800', '\udc00', '\udc00\ud800', 'a\ud83d', '😀', '\u{10ffff}', '\ufffe\uffff', '👨‍👩‍👧‍👦'],
  ...['\u202eesrever', '\u2066\u2069', 'עברית', 'e\u0301', 'é', 'İ', 'ß', 'ﬁ', '９', 'Ａ', '\u0130\u0131'],
  ...[
    "'",
    '"',
    '`',
    '\\',
    "\\'",
    "' OR '1'='1",
    "'; DROP TABLE users; --",
    '1) OR (1=1',
    '/*',
    '--',
    '#',
    ';',
  ],
  ...[
    '%',
    '_',
    '%%',
    '\\%',
    '\\_',
    '?',
    ':id',
    '$1',
    '@@version',
    '0x27',
    "' UNION SELECT 1,2,3 -- ",
    'SLEEP(9)',
  ],
  ...[
    '${7*7}',
    '{{7*7}}',
    '<script>x</script>',
    '../../etc/passwd',
    '..\\..\\x',
    'a\r\nSet-Cookie: x=y',
    'a\nb',
  ],
  ...[
    'null',
    'undefined',
    'NaN',
    'Infinity',
    'true',
    '-0',
    '-1',
    '1e3',
    '1.0',
    '01',
    '0x10',
    '1_000',
    ' 1',
    '+1',
  ],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'length', 'then'],
  ...['0000-00-00', '2026-02-30', '2026-13-01', '9999-12-31', '10000-01-01', '-000001-01-01', '1582-10-10'],
  ...[
    '2026-01-01T00:00:00Z',
    '2026-1-1',
    '２０２６-01-01',
    '0001-01-01',
    '2024-02-29',
    '2023-02-29',
    '275760-09-14',
  ],
  ...[
    '9007199254740991',
    '9007199254740992',
    '18446744073709551616',
    '-9223372036854775808',
    '1,,2',
    ',',
    '1,a',
  ],
  ...[
    'superadmin',
    'tenant_admin',
    '000000',
    '0',
    '1',
    '2',
    '0,1',
    'W/"1"',
    '"1"',
    '*',
    'a@b',
    '"@"@b.c',
    'a@b.c',
  ],
];

/** Texts whose length or number of parts is the point. */
const LONG: readonly ((at: number) => string)[] = [
  (at) => 'x'.repeat(at),
  (at) => '部'.repeat(at),
  (at) => '😀'.repeat(at),
  (at) => 'e\u0301'.repeat(at),
  (at) => '%'.repeat(at),
  (at) => "'".repeat(at),
  (at) => `${'a'.repeat(at)}@example.com`,
  (at) => Array.from({ length: at }, (_, index) => index + 1).join(),
  (at) => '0,'.repeat(at),
];
const LENGTHS = [1, 20, 21, 32, 33, 63, 64, 65, 100, 101, 128, 129, 255, 256, 257, 500, 501, 4096, 4097];

export function nastyText(chance: Chance): string {
  if (chance.hit(0.75)) return chance.pick(TEXTS);
  const length = chance.hit(0.05) ? chance.pick([10_000, 65_536, 65_537]) : chance.pick(LENGTHS);
  return chance.pick(LONG)(length);
}

const NUMBERS: readonly string[] = [
  ...['0', '-0', '1', '-1', '1.5', '-1.5', '0.1e1', '1E+2', '1e2', '1e400', '-1e400', '1e-400', '5e-324'],
  ...['2147483647', '2147483648', '-2147483648', '-2147483649', '4294967296', '1e9', '1e15', '1e16', '1e21'],
  ...[
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740991',
    '18446744073709551616',
  ],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '123456789012345678901234567890',
    '1.7976931348623157e308',
  ],
];

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** JSON that is not of the type anybody expects. */
const STRUCTURES: readonly (() => string)[] = [
  ...['null', 'true', 'false', '[]', '{}', '[null]', '[0]', '["1"]', '[[1]]', '{"a":{}}', '[{}]'].map(
    (text) => () => text,
  ),
  () => '{"__proto__":{"polluted":1}}',
  () => '{"constructor":{"prototype":{"polluted":1}}}',
  () => '{"toString":1,"valueOf":null,"hasOwnProperty":0}',
  () => '{"length":-1,"0":"a"}',
  () => '{"$gt":""}',
  () => '{"type":"Buffer","data":[0]}',
  () => nested(20, '[', ']'),
  () => nested(31, '{"a":[', ']}').replaceAll('[]', '[0]'),
  () => nested(33, '[', ']'),
  () => nested(5000, '[', ']'),
  () => `[${Array.from({ length: 500 }, (_, index) => index + 1).join()}]`,
  () => `[${Array.from({ length: 501 }, (_, index) => index + 1).join()}]`,
  () => `[${Array.from({ length: 10_000 }, (_, index) => index + 1).join()}]`,
  () => `[${'1,'.repeat(9_999)}1]`,
  () => `[${'"x",'.repeat(9_999)}"x"]`,
];

/** What no JSON has, and some parsers take. */
const BROKEN: readonly string[] = [
  ...[
    'NaN',
    'Infinity',
    'undefined',
    '01',
    '+1',
    '.5',
    '5.',
    '0x10',
    "'a'",
    '"\\x41"',
    '"\\u12"',
    '"a',
    '[1,]',
  ],
  ...['{"a":1,}', '{a:1}', '/* */1', '1 2', '"\n"', '"\u0000"', 'tru', '', ',', '{]', '[', '1n'],
];

/** A value as JSON text: well formed nearly always, right hardly ever. */
export function nastyJson(chance: Chance): string {
  const kind = chance.next();
  if (kind < 0.45) return quoted(nastyText(chance), chance);
  if (kind < 0.65) return chance.pick(NUMBERS);
  return kind < 0.97 ? chance.pick(STRUCTURES)() : chance.pick(BROKEN);
}

/** A text in JSON; now and then with every character escaped, which must mean the same. */
export function quoted(text: string, chance: Chance): string {
  if (text.length > 300 || !chance.hit(0.1)) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16));
  return `"${units.map((unit) => `\\u${unit.padStart(4, '0')}`).join('')}"`;
}
