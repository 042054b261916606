import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';

/** What the secret of a key looks like; secret scanners look for it, too. */
const FORM = /^tnt_[\w-]{43}[0-9A-Za-z]{6}$/;
const CHECK_SUM_LENGTH = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new secret: 256 bits by chance between the prefix and a check sum. */
export function newKeySecret(): string {
  const text = `tnt_${randomBytes(32).toString('base64url')}`;
  return text + checkSumOf(text);
}

/** What is kept of a secret: nobody finds 256 random bits from it. */
export function hashOfKey(secret: string): string {
  return hash('sha256', secret);
}

/** CRC-32 in the digits of base 62. */
function checkSumOf(text: string): string {
  let sum = '';
  for (let rest = crc32(text); rest > 0; rest = Math.floor(rest / 62)) sum = `${DIGITS[rest % 62]}${sum}`;
  return sum.padStart(CHECK_SUM_LENGTH, '0');
}

function isMistyped(secret: string): boolean {
  return (
    !FORM.test(secret) || checkSumOf(secret.slice(0, -CHECK_SUM_LENGTH)) !== secret.slice(-CHECK_SUM_LENGTH)
  );
}

/** The key of a request, as it is looked up. */
interface SentKey {
  /** Null when the secret is mistyped. */
  readonly hash: string | null;
}

const BEARER = /^[Bb][Ee][Aa][Rr][Ee][Rr] (tnt_.*)$/;
const sentKey = Symbol('sentKey');

/** The key that stands where a token goes, if one does. Its hash is computed once for each request. */
export function keyIn(request: IncomingMessage & { [sentKey]?: SentKey }): SentKey | null {
  const known = request[sentKey];
  if (known) return known;
  const [header = '', ...more] = request.headersDistinct.authorization ?? [];
  const secret = more.length > 0 ? undefined : BEARER.exec(header)?.[1];
  if (secret === undefined) return null;
  return (request[sentKey] = { hash: isMistyped(secret) ? null : hashOfKey(secret) });
}

/** Each character may be percent-encoded. */
const IN_PATH = /(?:t|%74)(?:n|%6e)(?:t|%74)(?:_|%5f)[\w%-]*/gi;

/** A path as it may be logged, whatever a client has put there. */
export function withoutKeys(path: string): string {
  return path.replace(IN_PATH, 'tnt_***');
}
