import fc, { type Arbitrary } from 'fast-check';

const words = (text: string) => text.split(' ');

/** Texts that have broken something somewhere, and that chance would not make. */
const TEXTS: readonly string[] = [
  ...['', ' ', '\t\r\n', '\0', 'a\0b', '\ufeff', '\u200b\u200d\u2060', '\u00a0', '\ufffe\uffff'],
  ...['\ud800', '\udc00\ud800', 'a\ud83d', '👨‍👩‍👧‍👦', '\u202eesrever', 'e\u0301', 'é', 'İ', 'ß', 'ﬁ', '９'],
  ...["' OR '1'='1", "'; DROP TABLE users; --", '1) OR (1=1', "' UNION SELECT 1,2,3 -- "],
  ...words(
    `' " \` \\ \\' /* -- # ; % _ %% \\% \\_ ? :id $1 @@version SLEEP(9) \${7*7} a\nb a\r\nSet-Cookie:x=y`,
  ),
  ...words('<script>x</script> ../../etc/passwd null undefined NaN true -0 -1 1e3 1.0 01 0x10 1_000 +1'),
  ...words('__proto__ constructor prototype toString hasOwnProperty valueOf length then 1,,2 , 1,a'),
  ...words('0000-00-00 2026-02-30 2026-13-01 9999-12-31 10000-01-01 -000001-01-01 1582-10-10 2023-02-29'),
  ...words('2026-01-01T00:00:00Z 2026-1-1 ２０２６-01-01 275760-09-14 18446744073709551616'),
  ...['dept:read dept:read  nobody:write', 'dept:read\tdept:write', '*:*'],
  ...words('superadmin tenant_admin 000000 0 1 2 0,1 W/"1" "1" * a@b "@"@b.c'),
];
const LENGTHS = [
  1, 20, 21, 32, 33, 63, 64, 65, 100, 101, 128, 129, 255, 256, 257, 500, 501, 4096, 4097, 65_537,
];
const counted = (length: number) => Array.from({ length }, (_, at) => at + 1).join();
const long = fc
  .tuple(fc.constantFrom(...LENGTHS), fc.constantFrom('x', '部', '😀', 'e\u0301', '%', "'", '0,', null))
  .map(([length, part]) => part?.repeat(length) ?? counted(Math.min(length, 5000)));

export const nastyText: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: long },
);

/** Numbers that no double holds, and depths and lengths that JSON has no limit for. */
const EXTREMES = [
  ...words('-0 0.1e1 1E+2 1e400 -1e400 1e-400 1e21 2147483648 -2147483649 4294967296'),
  ...words('9007199254740993 18446744073709551616 9223372036854775808 123456789012345678901234567890'),
  ...words('{"__proto__":{"polluted":1}} {"constructor":{"prototype":{"polluted":1}}} {"$gt":""}'),
  ...words('{"toString":1,"valueOf":null,"hasOwnProperty":0} {"length":-1,"0":"a"}'),
  ...[20, 33, 5000].map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  ...['{"a":['.repeat(31) + '0' + ']}'.repeat(31), `[${'"x",'.repeat(9_999)}"x"]`],
  ...[500, 501, 10_000].map((length) => `[${counted(length)}]`),
];

/** What is no JSON, and some parsers take. */
const BROKEN = [
  ...words(
    `NaN Infinity undefined 01 +1 .5 5. 0x10 'a' "\\x41" "\\u12" "a [1,] {"a":1,} {a:1} tru , {] [ 1n`,
  ),
  ...['/* */1', '1 2', '"\n"', '"\u0000"', ''],
];

/** A value as JSON text: well formed nearly always, right hardly ever. */
export const nastyJson: Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: nastyText.map((text) => JSON.stringify(text)) },
  { weight: 6, arbitrary: fc.json() },
  { weight: 6, arbitrary: fc.constantFrom(...EXTREMES) },
  { weight: 1, arbitrary: fc.constantFrom(...BROKEN) },
);

export const ODD_TARGETS = [
  ...words(
    '/ // /system/ /system/dept-api// /system/dept-api/./1 /system/dept-api/../dept-api /% /%00 /.env',
  ),
  ...words('/system/dept-api/%2e%2e/x /system/dept-api/1/2/3 /SYSTEM/dept-api/1 /system/dept-api/1;x=1'),
  ...words(
    '/system/%E0%A4%A /docs/%2e%2e/%2e%2e/package.json /docs/..%2f..%2fpackage.json /health/ready?x=%',
  ),
  ...words('/__proto__ /constructor /auth/me/1 /system/dept-api/export/ /metrics'),
];
export const ODD_QUERIES = words('= && x __proto__=1 __proto__[x]=1 constructor.prototype=1 % %00=%00');
export const ODD_IDS = words('% %zz %00 %2f %C0%AF %ED%A0%80 1%00 1%0a %EF%BC%91 +1 1.0 0x1 1e0 -1 01');
export const ODD_METHODS = words('HEAD OPTIONS TRACE PROPFIND LOCK PURGE SEARCH M-SEARCH LINK DELETE');
export const ODD_KEYS = [
  '',
  '\0',
  'deptId ',
  ...words('__proto__ constructor prototype toString x DEPTID a.b'),
];
export const ODD_TYPES = [
  ...[
    '',
    'application/json; charset=gbk',
    'application/json; charset="utf-7"',
    'multipart/form-data; boundary=x',
  ],
  ...words('application/json;charset=utf-16 application/merge-patch+json text/plain */* a/b/c ; text/csv'),
  ...words('application/x-www-form-urlencoded application/xml APPLICATION/JSON application/x-ndjson'),
];
export const ODD_TOKENS = [
  ...[
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    'Bearer a.b.c',
    'Basic YWRtaW46YWRtaW4=',
    `Bearer ${'a'.repeat(9000)}`,
  ],
  ...['Bearer tnt_', 'Bearer tnt_\xff', `Bearer tnt_${'a'.repeat(49)}`, `Bearer tnt_${'a'.repeat(9000)}`],
  'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
  `Bearer ${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${'W1tb'.repeat(500)}.x`,
];
export const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ...['image/png', 'text/csv;q=x, */*;q=0', ','.repeat(2000)].map((value) => ['accept', value] as const),
  ...['en;q=1e9, zh;q=-1', 'x'.repeat(4000)].map((value) => ['accept-language', value] as const),
  ...['a'.repeat(65), '\x80\xff', 'a, b'].map((value) => ['x-request-id', value] as const),
  ...['gzip', 'br', 'gzip, gzip', 'zstd', 'x'].map((value) => ['content-encoding', value] as const),
  ...['*', '"1"', 'W/"1"', '1', '""', '"1', '"1", "2"', '"\xff"', ','].map(
    (value) => ['if-match', value] as const,
  ),
  ...['*', '"1"', '"', `"${'x'.repeat(2000)}"`].map((value) => ['if-none-match', value] as const),
  ...['a', 'a b', ' ', '\xff', 'a'.repeat(256)].map((value) => ['idempotency-key', value] as const),
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', "127.0.0.1, ' OR 1=1"],
  ['host', 'evil.example:99999'],
  ['expect', 'wonders'],
  ['range', 'bytes=0-0,-1'],
  ['upgrade', 'websocket'],
  ['x-long', 'a'.repeat(20_000)],
];
