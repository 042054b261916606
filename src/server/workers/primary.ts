import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { backoff } from '../../concurrency/retry';
import type { Message, ToPrimary, ToWorker } from './worker';

/** How long a worker that has died is waited for, by how often one in its place has died before. */
const RESTART = { first: 100, most: 30_000 };
/** What a worker ends by that is just starting when all processes are told to stop. */
const STOPPED_BY: ReadonlySet<string | null> = new Set(['SIGTERM', 'SIGINT']);
/** A worker that has lived for so long has not died of its start. */
const LONG_LIFE_MS = 30_000;

/** How often workers in one place have died in a row, each soon after its start. */
export function deathsInARow(before: number, livedMs: number): number {
  return livedMs >= LONG_LIFE_MS ? 1 : before + 1;
}

/**
 * The process that forks workers, forks another one for each that dies, and passes messages between them. It serves nothing itself.
 */
export class Primary {
  /** Not those of `cluster`: it keeps some that could not be forked. */
  readonly #forked = new Set<Worker>();
  readonly #started = new Set<Worker>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  #areAllStarted = false;
  #isStopping = false;

  constructor(
    private readonly count: number,
    private readonly logger: Logger,
  ) {}

  /** Gives the address when all workers serve; fails when one of them says that it cannot. */
  start(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.hear('started', (worker, address) => {
        // What a worker has said may be read after its death, when others die at the same time.
        if (worker.isDead()) return;
        this.#started.add(worker);
        if (this.#areAllStarted) this.logger.info({ worker: worker.id }, 'a worker has started');
        else if (this.#started.size === this.count) {
          this.#areAllStarted = true;
          resolve(address);
        }
      });
      this.hear('failed', (worker, problem) => {
        if (this.#isStopping) return;
        if (this.#areAllStarted) this.logger.error({ worker: worker.id, problem }, 'a worker did not start');
        else reject(new Error(problem));
      });
      this.hear('revoked', (sender, text) => {
        this.tell('revoked', text, sender);
      });
      // Each worker accepts connections itself: one that is being handed to a worker that dies would be answered by nobody.
      cluster.schedulingPolicy = cluster.SCHED_NONE;
      for (let n = 0; n < this.count; n += 1) this.#keepOne();
    });
  }

  /** The numbers of those that serve. */
  get workers(): number[] {
    return [...this.#started].map(({ id }) => id);
  }

  hear<T extends keyof ToPrimary>(topic: T, hear: (worker: Worker, body: ToPrimary[T]) => void): void {
    cluster.on('message', (worker: Worker, { tenantry, body }: Message<ToPrimary>) => {
      if (tenantry === topic) hear(worker, body as ToPrimary[T]);
    });
  }

  /** Tells all workers but one. Also those that are starting: they serve a moment before they say so. */
  tell<T extends keyof ToWorker>(topic: T, body: ToWorker[T], butFor?: Worker): void {
    for (const worker of this.#forked) if (worker !== butFor) worker.send({ tenantry: topic, body });
  }

  /** Lets all workers finish, and kills those that have not within this time. Gives whether all have ended well. */
  async stop(signal: NodeJS.Signals, patienceMs: number): Promise<boolean> {
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    this.tell('stop', signal);
    const workers = [...this.#forked];
    const kill = setTimeout(() => {
      for (const worker of workers.filter((each) => !each.isDead())) {
        this.logger.error({ worker: worker.id }, 'a worker did not stop, and is killed');
        worker.process.kill('SIGKILL');
      }
    }, patienceMs);
    const exits = await Promise.all(
      workers.map(async (worker) => {
        if (!worker.isDead()) await new Promise((resolve) => worker.once('exit', resolve));
        const { exitCode, signalCode } = worker.process;
        return exitCode === 0 || STOPPED_BY.has(signalCode);
      }),
    );
    clearTimeout(kill);
    return exits.every((isWell) => isWell);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Forks a worker, and another one each time that it dies, or that it cannot be forked. */
  #keepOne(deaths = 0): void {
    const begun = performance.now();
    let isOver = false;
    const again = (why: string, fields: object): void => {
      if (isOver || this.#isStopping) return;
      isOver = true;
      const died = deathsInARow(deaths, performance.now() - begun);
      const waitMs = Math.round(backoff(died, RESTART));
      this.logger.error({ ...fields, waitMs }, why);
      const timer = setTimeout(() => {
        this.#restarts.delete(timer);
        this.#keepOne(died);
      }, waitMs);
      this.#restarts.add(timer);
    };
    const failToFork = ({ message: problem }: Error): void => {
      again('a worker could not be forked', { problem });
    };
    try {
      // As many as were counted at the start: of `auto` a later count may differ.
      const worker = cluster.fork({ WORKERS: String(this.count) });
      const isForked = worker.process.pid !== undefined;
      if (isForked) this.#forked.add(worker);
      worker.on('error', (error) => {
        // One that never was does not exit. What is sent to one that has just died is lost, and nobody misses it.
        if (!isForked) failToFork(error);
      });
      worker.once('exit', (code: number | null, signal: string | null) => {
        this.#forked.delete(worker);
        this.#started.delete(worker);
        again('a worker has died', { worker: worker.id, code, signal });
      });
    } catch (error) {
      failToFork(error as Error);
    }
  }
}
