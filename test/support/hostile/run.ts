import { Agent } from 'node:http';
import { isLong } from '../long-run';
import { problemOf, SLOW_MS } from './judge';
import { hostileRequest, type HostileRequest } from './requests';
import { sendHostile } from './send';
import type { HostileCaller } from './world';

export interface HostileRun {
  readonly baseUrl: string;
  readonly callers: readonly HostileCaller[];
  readonly seed: number;
  readonly count: number;
}

export interface HostileReport {
  readonly problems: readonly string[];
  /** How often each status came. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
}

/** Requests that are under way at once, each on a connection of its own. */
const LANES = 12;
/** More would only say the same again. */
const ENOUGH = 20;

/** Sends so many requests of a seed and judges every answer. `FAULTS_ONLY=<number>` sends that one alone. */
export async function runHostile({ baseUrl, callers, seed, count }: HostileRun): Promise<HostileReport> {
  const url = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: LANES });
  const only = process.env.FAULTS_ONLY;
  const last = only === undefined ? count : Number(only) + 1;
  let next = only === undefined ? 0 : Number(only);
  const problems: string[] = [];
  const statuses: Record<string, number> = {};
  const slow: HostileRequest[] = [];
  let slowestMs = 0;
  const lane = async () => {
    while (next < last && problems.length < ENOUGH) {
      const request = hostileRequest(seed, (next += 1) - 1, callers);
      try {
        const told = await sendHostile(url, request, agent);
        if (told.ms > SLOW_MS) slow.push(request);
        for (const { status } of told.answers) statuses[status] = (statuses[status] ?? 0) + 1;
        slowestMs = Math.max(slowestMs, told.ms);
        const problem = problemOf(request, told);
        if (problem !== null) problems.push(described(problem, request, seed, baseUrl));
      } catch (error) {
        problems.push(described(String(error), request, seed, baseUrl));
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  // A request may have waited for others, or for a machine that did something else; alone it has no excuse. Only
  // measured by `npm run test:faults`, which wants a quiet machine.
  for (const request of isLong ? slow.slice(0, ENOUGH) : []) {
    const { ms } = await sendHostile(url, request, agent);
    if (ms > SLOW_MS) problems.push(described(`took ${Math.round(ms)} ms`, request, seed, baseUrl));
  }
  agent.destroy();
  return { problems, statuses, slowestMs: Math.round(slowestMs) };
}

const PRINTED = 4000;

/** What is wrong, and how to see it again: the request by its number, and as a command. */
function described(problem: string, request: HostileRequest, seed: number, baseUrl: string): string {
  const again = `FAULTS_SEED=${seed} FAULTS_ONLY=${request.number} (by ${request.caller})`;
  return `${problem}\n  ${again}\n  ${command(request, baseUrl).slice(0, PRINTED)}`;
}

function command({ method, target, headers, body, raw }: HostileRequest, baseUrl: string): string {
  const { hostname, port } = new URL(baseUrl);
  if (raw) return `echo ${raw.toString('base64')} | base64 -d | nc ${hostname} ${port}`;
  const sent = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `-H ${shell(`${name}: ${value}`)}`),
  );
  const curl = ['curl', '-i', '--path-as-is', '-g', '-X', method, shell(baseUrl + target), ...sent];
  if (!body) return curl.join(' ');
  return `echo ${body.toString('base64')} | base64 -d | ${[...curl, '--data-binary', '@-'].join(' ')}`;
}

function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
