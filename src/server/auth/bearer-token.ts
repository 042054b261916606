import type { IncomingMessage } from 'node:http';

/** Schemes are case-insensitive (RFC 9110, 11.1). */
const SCHEME = 'bearer ';
/** Header and claims begin with `e`, as `{` does in base64: jsonwebtoken breaks on claims that are `null`. */
const TOKEN = /^e[\w-]+\.e[\w-]+\.[\w-]+$/;

/** The token, when there is exactly one Authorization header and it is of the contract's form. */
export function bearerToken({ rawHeaders, headers }: IncomingMessage): string | null {
  let sent = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') sent += 1;
  }
  const { authorization = '' } = headers;
  if (sent !== 1 || authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null;
  const token = authorization.slice(SCHEME.length);
  return TOKEN.test(token) ? token : null;
}
