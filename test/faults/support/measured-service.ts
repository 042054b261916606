import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Answer, ThrowAwayDatabase } from '../../../src/server/testing';
import { serviceTables } from '../../../src/server/service-data-source';
import { ChildService } from '../../support/child-service';
import { LoadProcess } from '../../support/load-process';
import { emptyDatabase } from '../../support/test-database';
import { until } from '../../support/until';

/** With it, a service tells the longest turn of its event loop. */
export const TELLS_TURNS = `--require ${join(__dirname, '..', '..', 'support', 'event-loop-hook.js')}`;
const PAUSE_MS = 20;

export interface Turn {
  readonly clock: number;
  readonly work: number;
}

/** The built service as a process of its own on its own database, for the tests of the surrounding block. */
export class MeasuredService {
  #database: ThrowAwayDatabase | undefined;
  #dataSource: DataSource | undefined;
  #child: ChildService | undefined;
  #load: LoadProcess | undefined;

  static use(env: Record<string, string>, open = emptyDatabase): MeasuredService {
    const measured = new MeasuredService();
    beforeAll(async () => {
      measured.#database = await open();
      measured.#child = await ChildService.start(measured.#database, env);
      measured.#dataSource = await measured.#database.open(serviceTables);
    });
    afterAll(async () => {
      measured.#load?.stop();
      await measured.#child?.stop('SIGKILL');
      await measured.#database?.drop();
    });
    return measured;
  }

  get child(): ChildService {
    return this.#child!;
  }

  get dataSource(): DataSource {
    return this.#dataSource!;
  }

  get port(): number {
    return Number(new URL(this.child.anonymous.baseUrl).port);
  }

  get pid(): number {
    return this.child.process.pid!;
  }

  /** Another process, which sends requests. */
  get load(): LoadProcess {
    return (this.#load ??= new LoadProcess());
  }

  /** The longest turn of the event loop since it was last asked. */
  async longestTurn(): Promise<Turn> {
    const told = () => [...this.child.printed.matchAll(/longest turn (.*)\n/g)].map((match) => match[1]!);
    const before = told().length;
    this.child.process.kill('SIGUSR2');
    await until(() => told().length > before);
    return JSON.parse(told().at(-1)!) as Turn;
  }
}

/** How long each of these reads takes, one after the other with short pauses, while `isOn`; a refusal fails. */
export async function timesOf(
  read: (n: number) => Promise<Answer>,
  isOn: (count: number) => boolean,
): Promise<number[]> {
  const took: number[] = [];
  while (isOn(took.length)) {
    const began = performance.now();
    expect((await read(took.length)).status).toBe(200);
    took.push(performance.now() - began);
    await sleep(PAUSE_MS);
  }
  return took;
}

export function forTime(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() < end;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Figures of a run, for whoever reads its output. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
