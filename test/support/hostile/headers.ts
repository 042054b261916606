import type { Chance } from '../chance';
import type { HostileTarget } from './operations';
import type { HostileCaller } from './world';

const NO_TOKENS: readonly ((token: string) => string | string[])[] = [
  () => '',
  () => 'Bearer',
  () => 'Bearer ',
  () => 'Bearer x',
  () => 'Bearer a.b.c',
  () => 'Basic YWRtaW46YWRtaW4=',
  () => 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
  () => 'Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6Ii4uLy4uL2Rldi9udWxsIn0.e30.x',
  () => `Bearer ${'a'.repeat(9000)}`,
  () => `Bearer ${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${'W1tb'.repeat(500)}.x`,
  (token) => `bearer ${token}`,
  (token) => `Bearer  ${token}`,
  (token) => `Bearer ${token} `,
  (token) => `Bearer ${token.slice(0, -1)}`,
  (token) => `Bearer ${token}x`,
  (token) => `Bearer ${token}, Bearer ${token}`,
  (token) => `Bearer ${token.replace('.', '..')}`,
  (token) => [`Bearer ${token}`, `Bearer ${token}`],
];

/** The caller's token; now and then something that is none. */
export function authorizationOf({ token }: HostileCaller, chance: Chance): string | string[] | null {
  if (chance.hit(0.04)) return chance.pick(NO_TOKENS)(token ?? 'x');
  return token === null ? null : `Bearer ${token}`;
}

const ODD_HEADERS: readonly (readonly [string, string | string[]])[] = [
  ['accept', 'image/png'],
  ['accept', 'text/csv;q=x, */*;q=0'],
  ['accept', ','.repeat(2000)],
  ['accept-language', 'en;q=1e9, zh;q=-1'],
  ['accept-language', 'x'.repeat(4000)],
  ['accept-encoding', 'gzip, deflate, br, *;q=0'],
  ['x-request-id', 'a'.repeat(65)],
  ['x-request-id', '\x80\xff'],
  ['x-request-id', 'a, b'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', "127.0.0.1, ' OR 1=1"],
  ['x-forwarded-host', 'evil.example'],
  ['forwarded', 'for=_hidden;host=evil'],
  ['host', 'evil.example:99999'],
  ['host', ''],
  ['cookie', `a=${'x'.repeat(3000)}`],
  ['expect', 'wonders'],
  ['range', 'bytes=0-0,-1'],
  ['connection', 'upgrade'],
  ['upgrade', 'websocket'],
  ['te', 'trailers, deflate'],
  ['origin', 'null'],
  ['if-modified-since', 'not a date'],
  ['if-unmodified-since', '9999'],
  ['x-long', 'a'.repeat(20_000)],
];
const TAGS = [
  '*',
  '"1"',
  '"2"',
  'W/"1"',
  '1',
  '""',
  '"',
  '"1',
  '"1", "2"',
  '"\xff"',
  `"${'x'.repeat(2000)}"`,
  '"1"x',
  ',',
  "'1'",
];
const KEYS = ['a', 'a b', '', ' ', '\xff', 'a'.repeat(255), 'a'.repeat(256), '"', 'a\tb', "' OR 1=1"];

export function headersOf(target: HostileTarget, chance: Chance): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const takes = (name: string) => target.parameters.some((each) => each.name === name);
  for (const name of ['If-Match', 'If-None-Match']) {
    if (chance.hit(takes(name) ? 0.15 : 0.01)) headers[name] = chance.pick(TAGS);
  }
  if (chance.hit(takes('Idempotency-Key') ? 0.2 : 0.01))
    headers['idempotency-key'] = chance.pick([...KEYS, `k${chance.below(50)}`]);
  if (chance.hit(0.08)) {
    const [name, value] = chance.pick(ODD_HEADERS);
    headers[name] = value;
  }
  return headers;
}
