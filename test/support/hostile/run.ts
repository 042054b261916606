import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { checkConformance } from '../conformance';
import { hostileRequest, type HostileRequest } from './requests';
import type { HostileCaller } from './world';

export interface HostileRun {
  readonly baseUrl: string;
  readonly callers: readonly HostileCaller[];
  readonly seed: number;
  readonly count: number;
}

export interface HostileReport {
  readonly problems: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
}

interface HostileAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Requests that are under way at once, each on a connection of its own. */
const LANES = 12;
const ENOUGH = 20;
/** Only bounds a hang. */
const GIVE_UP_MS = 60_000;

/** Sends so many requests of a seed and judges every answer. `FAULTS_ONLY=<number>` sends that one alone. */
export async function runHostile({ baseUrl, callers, seed, count }: HostileRun): Promise<HostileReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES });
  const only = process.env.FAULTS_ONLY;
  const last = only === undefined ? count : Number(only) + 1;
  let next = only === undefined ? 0 : Number(only);
  const problems: string[] = [];
  const statuses: Record<string, number> = {};
  const lane = async () => {
    while (next < last && problems.length < ENOUGH) {
      const request = hostileRequest(seed, (next += 1) - 1, callers);
      try {
        const answer = await send(new URL(baseUrl), request, agent);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        const problem = problemOf(request, answer);
        if (problem === null) continue;
        const told = `${problem}: ${answer.status} ${answer.text.slice(0, 300)}`;
        problems.push(described(told, request, seed, baseUrl));
      } catch (error) {
        problems.push(described(String(error), request, seed, baseUrl));
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  agent.destroy();
  return { problems, statuses };
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

/** What is wrong, and how to see it again: the request by its number, and as a command. */
function described(problem: string, request: HostileRequest, seed: number, baseUrl: string): string {
  const { method, target, headers, body, number, caller } = request;
  const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const sent = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `-H ${shell(`${name}: ${value}`)}`),
  );
  const curl = ['curl', '-i', '--path-as-is', '-g', '-X', method, shell(baseUrl + target), ...sent];
  const command = body
    ? `echo ${body.toString('base64')} | base64 -d | ${[...curl, '--data-binary', '@-'].join(' ')}`
    : curl.join(' ');
  return `${problem}\n  FAULTS_SEED=${seed} FAULTS_ONLY=${number} (by ${caller})\n  ${command.slice(0, 4000)}`;
}
