import type { IncomingMessage } from 'node:http';

/** Header and claims begin with `e`, as `{` does in base64: jsonwebtoken breaks on claims that are `null`. */
const BEARER = /^Bearer (e[\w-]+\.e[\w-]+\.[\w-]+)$/;

/** The token, when there is exactly one Authorization header and it is of the contract's form. */
export function bearerToken({ rawHeaders, headers }: IncomingMessage): string | null {
  let sent = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') sent += 1;
  }
  return sent === 1 ? (BEARER.exec(headers.authorization ?? '')?.[1] ?? null) : null;
}
