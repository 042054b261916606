import type { Language } from '../http/language';

/** Who looks after the service must see it above all when it has too much to do. */
const ALWAYS = /^\/(health|metrics)(?=[/?]|$)/;

export function isAlwaysServed(url: string): boolean {
  return ALWAYS.test(url);
}

/** What a refusal needs to know of a request. */
export interface RawHead {
  readonly method: string;
  readonly url: string;
  readonly token: string | null;
  readonly requestId: string | undefined;
  readonly language: Language;
}

const FIRST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[!-~]*) HTTP\/1\.1\r\n/;
const TOKEN = /\r\nauthorization: Bearer (e[\w-]+\.e[\w-]+\.[\w-]+)\r\n/i;
const REQUEST_ID = /\r\nx-request-id: ?([A-Za-z0-9._-]{1,64})\r\n/i;
const LENGTH = /\r\ncontent-length: ?(\d{1,6})\r\n/i;
/** Whoever could see another end of the request than we do goes to the real parser. */
const DOUBTFUL = /transfer-encoding|upgrade|expect|connection: ?close|content-length[^]*content-length/i;
const MOST_BYTES = 16_384;

/** What the chunk says, if it is exactly one whole request of the plainest form. */
export function parseHead(chunk: Buffer): RawHead | null {
  if (chunk.length > MOST_BYTES) return null;
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0) return null;
  // With the end of the last line, so that every header has one before and one after it.
  const head = chunk.toString('latin1', 0, end + 2);
  const [, method, url] = FIRST_LINE.exec(head) ?? [];
  if (method === undefined || url === undefined || DOUBTFUL.test(head)) return null;
  const body = chunk.length - end - 4;
  if (body !== Number(LENGTH.exec(head)?.[1] ?? 0)) return null;
  return {
    method,
    url,
    token: TOKEN.exec(head)?.[1] ?? null,
    requestId: REQUEST_ID.exec(head)?.[1],
    // A real negotiation would cost as much as all the rest.
    language: /\r\naccept-language: ?en/i.test(head) ? 'en' : 'zh',
  };
}
