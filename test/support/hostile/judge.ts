import { checkConformance } from '../conformance';
import type { HostileRequest } from './requests';
import type { HostileAnswer, Told } from './send';

export const SLOW_MS = 2000;
/** Outside the envelope, as docs/api.md says; their refusals are inside it all the same. */
const NO_ENVELOPE = /^\/((health|docs)\b|$|\?)/;
/** What only the inside of the service knows. */
const INNER = /QueryFailed|node_modules|\bat \S+ \(|SQLITE_|\bER_[A-Z]|errno|tenantry_|"polluted"/;

/** What is wrong with the answer to a hostile request; null when it is as promised. */
export function problemOf(request: HostileRequest, { answers }: Told): string | null {
  if (answers.length === 0 && !request.isCut) return 'was not answered';
  for (const answer of answers) {
    const problem = problemOfAnswer(request, answer);
    if (problem !== null) return `${problem}: ${answer.status} ${answer.text.slice(0, 300)}`;
  }
  return null;
}

function problemOfAnswer({ method, target, raw }: HostileRequest, answer: HostileAnswer): string | null {
  const { status, headers, text } = answer;
  if (status >= 500) return 'failed';
  if (headers['x-request-id'] === undefined) return 'has no X-Request-Id';
  if (headers['set-cookie']) return 'has a header that nobody here sets';
  if (status !== 200 && INNER.test(text)) return 'tells what is inside';
  if (method === 'HEAD' || status === 304) return text === '' ? null : 'has a body';
  if (NO_ENVELOPE.test(target) && status === 200) return null;
  if (/^\/auth\/token\/?(\?|$)/.test(target) && method === 'POST') {
    // In the words of RFC 6749; only what Node itself refuses comes in the envelope.
    const isOAuth = status === 200 || status === 431 || text.startsWith('{"error":');
    return isOAuth ? conformance(method, target, answer) : 'is not as RFC 6749 says';
  }
  if (status === 200 && /^(text\/csv|application\/x-ndjson)/.test(headers['content-type'] ?? '')) {
    return /\/export\b/.test(target) ? null : 'is a file';
  }
  return problemOfEnvelope(answer) ?? (raw && status === 200 ? null : conformance(method, target, answer));
}

function problemOfEnvelope({ status, headers, text }: HostileAnswer): string | null {
  if (headers['content-type'] !== 'application/json; charset=utf-8') return 'is not JSON by its type';
  const body = JSON.parse(text) as { code: number; data: { reason?: string; requestId?: string } | null };
  if (Object.keys(body).join() !== 'code,msg,data') return 'is not the envelope';
  if (body.code !== status) return 'has another code than its status';
  if (status === 200) return null;
  return body.data?.reason && body.data.requestId === headers['x-request-id'] ? null : 'does not say why';
}

/** Whether the document knows this answer to this operation. */
function conformance(method: string, path: string, { status, headers, text }: HostileAnswer): string | null {
  try {
    checkConformance({ method, path, status, headers, text });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
