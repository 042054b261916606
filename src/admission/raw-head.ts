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
  readonly acceptLanguage: string | undefined;
}

const FIRST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[!-~]*) HTTP\/1\.1\r\n/;
/** One line, of characters that nobody takes for the end of one. */
const HEADER = /([\w!#$%&'*+.^`|~-]+): ([\t -~\x80-\xff]*)\r\n/y;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const LENGTH = /^\d{1,6}$/;
const MOST_BYTES = 16_384;

/**
 * Headers that are read here, and those with which only the real parser may deal: somebody could see another end of the
 * request, or of the connection, than we do; and pages may need other headers in the answer.
 */
const READ = new Set(['authorization', 'accept-language', 'connection', 'content-length', 'x-request-id']);
const DOUBTFUL = new Set(['expect', 'origin', 'transfer-encoding', 'upgrade']);

/** What the chunk says, if it is exactly one whole request of the plainest form. */
export function parseHead(chunk: Buffer): RawHead | null {
  if (chunk.length > MOST_BYTES) return null;
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = chunk.toString('latin1', 0, end + 2);
  const [line, method, url] = FIRST_LINE.exec(head) ?? [];
  if (line === undefined || method === undefined || url === undefined) return null;
  const headers = plainHeaders(head, line.length);
  if (!headers || (headers.get('connection') ?? 'keep-alive').toLowerCase() !== 'keep-alive') return null;
  const length = chunk.length - end - 4;
  const said = headers.get('content-length') ?? '0';
  if (!LENGTH.test(said) || Number(said) !== length) return null;
  const requestId = headers.get('x-request-id');
  return {
    method,
    url,
    length,
    token: headers.get('authorization')?.replace(/^bearer /i, '') ?? null,
    requestId: requestId !== undefined && REQUEST_ID.test(requestId) ? requestId : undefined,
    acceptLanguage: headers.get('accept-language'),
  };
}

/** Those that are read here, where all from there on are plain, and none of these is there twice. */
function plainHeaders(head: string, from: number): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>();
  for (HEADER.lastIndex = from; HEADER.lastIndex < head.length;) {
    const [, written, value] = HEADER.exec(head) ?? [];
    if (written === undefined || value === undefined) return null;
    const name = written.toLowerCase();
    if (DOUBTFUL.has(name)) return null;
    if (!READ.has(name)) continue;
    if (headers.has(name) || value !== value.trim()) return null;
    headers.set(name, value);
  }
  return headers;
}
