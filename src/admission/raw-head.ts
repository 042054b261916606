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
  /** Of the body. */
  readonly length: number;
  readonly token: string | null;
  readonly requestId: string | undefined;
  readonly language: Language;
}

const FIRST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[!-~]*) HTTP\/1\.1\r\n/;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const LENGTH = /^\d{1,6}$/;
/** Whoever could see another end of the request than we do goes to the real parser. */
const DOUBTFUL = ['transfer-encoding', 'upgrade', 'expect'];
/** Browsers send it for pages, which may need other headers in the answer. */
const OF_A_PAGE = '\r\norigin:';
/** Lines, and no other control characters that somebody could take for the end of one. */
const LINES = /^(?:[\t -~\x80-\xff]*\r\n)+$/;
const KEPT = 'keep-alive';
const MOST_BYTES = 16_384;

/**
 * What the chunk says, if it is exactly one whole request of the plainest form. Texts are looked for, not patterns: a
 * pattern that heeds no case takes longer for a token than all the rest of a refusal.
 */
export function parseHead(chunk: Buffer): RawHead | null {
  if (chunk.length > MOST_BYTES) return null;
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0) return null;
  // With the end of the last line, so that every header has one before and one after it.
  const head = chunk.toString('latin1', 0, end + 2);
  const [, method, url] = FIRST_LINE.exec(head) ?? [];
  if (method === undefined || url === undefined) return null;
  const lower = head.toLowerCase();
  if (DOUBTFUL.some((word) => lower.includes(word))) return null;
  const length = chunk.length - end - 4;
  if (length !== lengthIn(head, lower)) return null;
  if (!LINES.test(head) || !isKept(lower) || lower.includes(OF_A_PAGE)) return null;
  const requestId = valueOf('x-request-id', head, lower);
  return {
    method,
    url,
    length,
    token: valueOf('authorization', head, lower)?.replace('Bearer ', '') ?? null,
    requestId: requestId !== undefined && REQUEST_ID.test(requestId) ? requestId : undefined,
    // A real negotiation would cost as much as all the rest.
    language: valueOf('accept-language', head, lower)?.startsWith('en') ? 'en' : 'zh',
  };
}

/** Whether the connection goes on after this request, as it does where nothing is said. */
function isKept(lower: string): boolean {
  return !lower.includes('connection') || valueOf('connection', lower, lower) === KEPT;
}

/** NaN, which nothing equals, where it is not plain. */
function lengthIn(head: string, lower: string): number {
  const at = lower.indexOf('content-length');
  if (at < 0) return 0;
  const value = valueOf('content-length', head, lower);
  const isOnly = !lower.includes('content-length', at + 1);
  return isOnly && value !== undefined && LENGTH.test(value) ? Number(value) : NaN;
}

function valueOf(name: string, head: string, lower: string): string | undefined {
  const at = lower.indexOf(`\r\n${name}: `);
  if (at < 0) return undefined;
  const start = at + name.length + 4;
  return head.slice(start, head.indexOf('\r\n', start));
}
