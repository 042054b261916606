import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import { checkConformance } from '../conformance';
import { hostileRequests, type HostileRequest } from './requests';
import type { HostileCaller } from './world';

export interface HostileRun {
  readonly baseUrl: string;
  readonly callers: readonly HostileCaller[];
  readonly seed: number;
  readonly count: number;
}

interface HostileAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Requests that are under way at once, each on a connection of its own. */
const LANES = 12;
/** Only bounds a hang. */
const GIVE_UP_MS = 60_000;

/**
 * Sends so many requests of a seed, judges every answer, and gives the number of each status. What fails is made as small as
 * it can be, and told with the seed and the path that `FAULTS_SEED` and `FAULTS_PATH` repeat.
 */
export async function runHostile({
  baseUrl,
  callers,
  seed,
  count,
}: HostileRun): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES });
  const requests = hostileRequests(callers);
  const path = process.env.FAULTS_PATH;
  const statuses: Record<string, number> = {};
  const lane = (_: unknown, index: number) =>
    fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const answer = await send(new URL(baseUrl), request, agent);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        const problem = problemOf(request, answer);
        if (problem !== null) throw new Error(`${problem}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }),
      path === undefined ? { seed: seed + index, numRuns: Math.ceil(count / LANES) } : { seed, path },
    );
  await Promise.all(Array.from({ length: path === undefined ? LANES : 1 }, lane));
  agent.destroy();
  return statuses;
}

function send(
  { hostname, port }: URL,
  { method, target, headers, body }: HostileRequest,
  agent: Agent,
): Promise<HostileAnswer> {
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path: target, headers, agent, timeout: GIVE_UP_MS };
    const sent = httpRequest(options, (response) => {
      response.toArray().then((chunks: Buffer[]) => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      }, reject);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)));
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}

/** Answers outside the envelope; their refusals are inside it all the same. */
const NO_ENVELOPE = /^\/((health|docs)\b|$|\?)/;
/** What only the inside of the service knows. */
const INNER = /QueryFailed|node_modules|\bat \S+ \(|SQLITE_|\bER_[A-Z]|errno|tenantry_|"polluted"/;

/** What is wrong with the answer to a hostile request; null when it is as promised. */
function problemOf({ method, target }: HostileRequest, answer: HostileAnswer): string | null {
  const { status, headers, text } = answer;
  if (status >= 500) return 'failed';
  if (headers['x-request-id'] === undefined) return 'has no X-Request-Id';
  if (headers['set-cookie']) return 'has a header that the service never sets';
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
  if (headers['content-type'] !== 'application/json; charset=utf-8') return 'is not JSON by its type';
  return conformance(method, target, answer);
}

function conformance(method: string, path: string, { status, headers, text }: HostileAnswer): string | null {
  try {
    checkConformance({ method, path, status, headers, text });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
