import { isDeepStrictEqual } from 'node:util';
import type { DataSource } from 'typeorm';
import { ApiClient, type Answer } from '../../src/testing/api-client';
import type { Bed } from '../support/bed';
import { costOf, sentBy } from '../support/cost';
import { interleave, ratiosOf, show, spreadOf } from '../support/figures';
import { rawRequest } from '../../test/support/load';
import type { OperationResult } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { isPostgres } from '../support/sql';
import { listOf, shapesOf, statementsOf } from '../support/statements';
import { fillTenants, type Caller } from '../support/world';
import { operations, TENANTS, type Callers, type Operation, type Request } from './operations';
import { Stock } from './stock';

const CONNECTIONS = 32;
/** Many short ones: a machine that others share is slow for some seconds at a time. */
const ROUNDS = 11;
/** CPU time of a round: the kernel counts in steps of 10 ms. */
const ROUND_MS = 200;
/** Before the first round, for the compiler of the engine: so many requests, or so much CPU time. */
const WARM_UP_REQUESTS = 4000;
const WARM_UP_MS = 4000;
/** Before all, with operations that every baseline has: what they share is warm then. After 10,000 requests they cost half. */
const COMMON_WARM_UP = ['getDept', 'listDepts, 10', 'updateDept, replace'];
const COMMON_REQUESTS = 5000;
/** Against the smallest Nest application. */
const BOUND = 1.5;
/** So many times the service's cost the textbook application has at least. */
const TEXTBOOK_LEAST = 2;

interface Servers {
  readonly service: ServerProcess;
  readonly smallest: ServerProcess;
  readonly express: ServerProcess;
  readonly textbook: ServerProcess | null;
}

interface Tried {
  readonly answer: Answer;
  readonly statements: string[];
}

/** Measures what requests cost each server, in rounds by turns, on the same data. */
export class OperationCosts {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly callers: Readonly<Record<Callers, readonly Caller[]>>,
    private readonly servers: Servers,
  ) {}

  static async on(bed: Bed): Promise<OperationCosts> {
    const dataSource = await bed.dataSource();
    const callers = {
      normal: await fillTenants(dataSource, {
        tenants: TENANTS,
        depts: 1000,
        accounts: 60,
        childTenants: 60,
      }),
      'small trees': await fillTenants(dataSource, { tenants: TENANTS, depts: 200 }),
      'large trees': await fillTenants(dataSource, { tenants: 5, depts: 5000 }),
      files: await fillTenants(dataSource, { tenants: 5, depts: 10_000 }),
    };
    const servers = {
      service: await bed.service(),
      smallest: await bed.baseline('smallest-nest'),
      express: await bed.baseline('express'),
      textbook: isPostgres(dataSource) ? null : await bed.baseline('textbook-nest'),
    };
    return new OperationCosts(dataSource, callers, servers);
  }

  async warmUp(): Promise<void> {
    for (const operation of operations.filter(({ name }) => COMMON_WARM_UP.includes(name))) {
      const source = this.#sourceOf(operation);
      const { service, smallest, express, textbook } = this.servers;
      for (const server of [service, smallest, express, textbook])
        if (server) await ask(server, source, COMMON_REQUESTS);
    }
  }

  /** Fails where a baseline answers otherwise than the service, or runs more statements. Gives the statements of both. */
  async compare(operation: Operation): Promise<readonly [service: string[], baseline: string[]]> {
    const { service, smallest, express, textbook } = this.servers;
    const source = this.#sourceOf(operation);
    const own = await this.#try(service, source);
    const [small, bare] = [await this.#try(smallest, source), await this.#try(express, source)];
    for (const { answer, statements } of [small, bare]) {
      const different = differenceOf(operation, own.answer, answer);
      if (different !== null) throw new Error(`${operation.name}: the answers differ: ${different}`);
      if (statements.length > own.statements.length)
        throw new Error(`${operation.name}: the baseline runs more statements: ${listOf(statements)}`);
    }
    if (operation.textbook && textbook)
      requireSameData(operation, own.answer, (await this.#try(textbook, source)).answer);
    return [own.statements, small.statements];
  }

  async measure(operation: Operation): Promise<OperationResult> {
    const statements = await this.compare(operation);
    const { service, smallest, express, textbook } = this.servers;
    const source = this.#sourceOf(operation);
    const compared = [service, smallest, express, ...(operation.textbook && textbook ? [textbook] : [])];
    const counts: number[] = [];
    for (const server of compared) counts.push(await roundSize(server, source));
    const costs = await interleave(
      compared.map((server, at) => () => ask(server, source, counts[at] ?? 0)),
      ROUNDS,
    );
    return resultOf(operation, costs, statements);
  }

  #sourceOf(operation: Operation): RequestSource {
    const callers = this.callers[operation.callers ?? 'normal'];
    return new RequestSource(operation, callers, new Stock(this.dataSource));
  }

  /** A request after others of its kind, with the statements that it caused. */
  async #try(server: ServerProcess, source: RequestSource): Promise<Tried> {
    const api = new ApiClient(server.baseUrl);
    const send = async ({ method, path, body, token = '' }: Request): Promise<Answer> => {
      const type = typeof body === 'string' ? { 'content-type': 'application/x-ndjson' } : undefined;
      const answer = await api.as(token).send(method, path, body, type);
      if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.text}`);
      return answer;
    };
    const seen: Tried[] = [];
    for (const request of await source.ofOneCaller(3)) {
      let answer: Answer | undefined;
      const statements = await statementsOf(this.dataSource, async () => (answer = await send(request)));
      if (answer) seen.push({ answer, statements: shapesOf(statements) });
    }
    api.close();
    // The state of the caller, which is remembered for five seconds, may be looked up in one of the last two.
    const [, second, third] = seen;
    if (!second || !third) throw new Error('There is no answer.');
    return {
      answer: third.answer,
      statements: second.statements.length < third.statements.length ? second.statements : third.statements,
    };
  }
}

/** Requests of all callers by turns. It counts on from server to server, so that no write finds its work done. */
class RequestSource {
  #turns = 0;

  constructor(
    readonly operation: Operation,
    readonly callers: readonly Caller[],
    private readonly stock: Stock,
  ) {}

  async next(count: number): Promise<Request[]> {
    // From a whole turn on, so that what is prepared belongs to the caller who uses it.
    this.#turns = Math.ceil(this.#turns / this.callers.length) * this.callers.length;
    return this.#make(this.callers, count);
  }

  ofOneCaller(count: number): Promise<Request[]> {
    return this.#make(this.callers.slice(0, 1), count);
  }

  async #make(callers: readonly Caller[], count: number): Promise<Request[]> {
    const prepared = await this.operation.prepare?.(this.stock, callers, count);
    return Array.from({ length: count }, (_, at) => {
      const caller = callers[at % callers.length];
      if (!caller) throw new Error('There is no caller.');
      const make = (turns: number): Request => ({
        token: caller.token,
        ...this.operation.request(caller, Math.floor(turns / callers.length), prepared?.[at]),
      });
      const read = make(at);
      return read.method === 'GET' ? read : make(this.#turns++);
    });
  }
}

/** CPU time of so many requests, in microseconds per request. */
async function ask(server: ServerProcess, source: RequestSource, count: number): Promise<number> {
  const load = {
    port: server.port,
    connections: source.operation.connections ?? CONNECTIONS,
    // Of long requests there are few, and what is remembered of callers is nothing beside them.
    leadIn: Math.min(source.callers.length, count),
    requests: count,
  };
  const sent = (await source.next(sentBy(load))).map(({ method, path, body, token = '' }) =>
    rawRequest(method, path, token, body),
  );
  return costOf({ ...load, cpuMs: () => server.cpuMs(), request: (_, n) => sent[n] ?? '' });
}

/** Warms a server up; gives how many requests a round has. */
async function roundSize(server: ServerProcess, source: RequestSource): Promise<number> {
  const least = source.operation.connections ?? CONNECTIONS;
  let [sent, spentMs, count] = [0, 0, least];
  while (sent < WARM_UP_REQUESTS && spentMs < WARM_UP_MS) {
    const cost = await ask(server, source, count);
    sent += count;
    spentMs += (cost * count) / 1000;
    // Of a few requests the kernel may have counted nothing.
    count = Math.max(least, Math.ceil((ROUND_MS * 1000) / Math.max(cost, 50)));
  }
  return count;
}

/** How two answers differ, what is made at random aside; null when they do not. */
function differenceOf({ isRandom }: Operation, one: Answer, other: Answer): string | null {
  if (one.status !== other.status) return `status ${one.status} / ${other.status}`;
  const names = [one, other].map(({ headers }) => Object.keys(headers).toSorted().join(', '));
  if (names[0] !== names[1]) return `headers ${names.join(' / ')}`;
  const texts = [one, other].map((answer) =>
    isRandom ? Object.keys(answer.body.data as object).join() : answer.text,
  );
  return texts[0] === texts[1] ? null : texts.map((text) => text.slice(0, 500)).join(' / ');
}

function requireSameData({ name }: Operation, { body: own }: Answer, { body }: Answer): void {
  const [a, b] = [own, body].map(({ data }) => (data as { rows?: unknown } | null)?.rows ?? data);
  if (!isDeepStrictEqual(a, b))
    throw new Error(`${name}: the textbook answers ${JSON.stringify(b).slice(0, 500)}`);
}

function resultOf(
  { name }: Operation,
  [service = [], smallest = [], express = [], textbook]: number[][],
  [own, theirs]: readonly [string[], string[]],
): OperationResult {
  const ratios = ratiosOf(service, smallest);
  const textbookRatio = textbook ? ratiosOf(textbook, service).median : null;
  const more =
    own.length === theirs.length ? '' : `; its statements: ${listOf(own)}; the baseline's: ${listOf(theirs)}`;
  return {
    name,
    service: spreadOf(service).median,
    smallest: spreadOf(smallest).median,
    express: spreadOf(express).median,
    ratio: ratios.median,
    bound: BOUND,
    textbookRatio,
    statements: [own.length, theirs.length],
    ok: ratios.median <= BOUND && (textbookRatio === null || textbookRatio >= TEXTBOOK_LEAST),
    details:
      `${show(spreadOf(service), 'µs')} against ${show(spreadOf(smallest), 'µs')}; ` +
      `ratio ${ratios.min.toFixed(2)}–${ratios.max.toFixed(2)}; bare ${show(spreadOf(express), 'µs')}` +
      `${textbook ? `; textbook ${show(spreadOf(textbook), 'µs')}` : ''}${more}`,
  };
}
