import cluster from 'node:cluster';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import type { Primary } from '../workers/primary';

type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** A worker that does not answer in time counts with what it said last. */
const PATIENCE_MS = 1000;

/** What all workers have counted, in one scrape. What a worker that died had counted stays in the sums: counters must not fall. */
export class MetricsOfWorkers {
  readonly #registry = new Registry();
  readonly #latest = new Map<number, Metrics>();
  readonly #answers = new EventEmitter<{ settled: [worker: number] }>();
  #ofTheDead: Promise<Metrics> = Promise.resolve([]);

  constructor(private readonly primary: Primary) {
    const registers = [this.#registry];
    // Each worker says that it is one.
    new Gauge({ name: 'tenantry_workers', help: 'Processes that serve requests.', registers }).set(0);
    const deaths = new Counter({
      name: 'tenantry_worker_deaths_total',
      help: 'Workers that died.',
      registers,
    });
    primary.hear('metrics', (worker, metrics) => {
      // Its last counts are buried.
      if (worker.isDead()) return;
      const { id } = worker;
      this.#latest.set(id, (metrics as Metrics).map(longest));
      this.#answers.emit('settled', id);
    });
    cluster.on('exit', ({ id }) => {
      if (!primary.isStopping) deaths.inc();
      this.#bury(this.#latest.get(id) ?? []);
      this.#latest.delete(id);
      this.#answers.emit('settled', id);
    });
  }

  readonly read = async (): Promise<string> => {
    await this.#askAll();
    const own = (await this.#registry.getMetricsAsJSON()) as Metrics;
    return sumOf([own, ...this.#latest.values(), await this.#ofTheDead]).metrics();
  };

  async #askAll(): Promise<void> {
    const missing = new Set(this.primary.workers);
    const answered = new AbortController();
    const settle = (worker: number): void => {
      missing.delete(worker);
      if (missing.size === 0) answered.abort();
    };
    this.#answers.on('settled', settle);
    this.primary.tell('metrics', null);
    if (missing.size > 0)
      await sleep(PATIENCE_MS, undefined, { signal: answered.signal }).catch(() => undefined);
    this.#answers.off('settled', settle);
  }

  /** Of what a worker has, only what it counted outlives it. */
  #bury(metrics: Metrics): void {
    const counts = metrics.filter(({ type }) => (type as unknown) !== 'gauge');
    this.#ofTheDead = this.#ofTheDead.then((others) => sumOf([others, counts]).getMetricsAsJSON());
  }
}

/** prom-client takes the mean of how late event loops are: one that is held up would be lost among the others. */
function longest(metric: Metrics[number]): Metrics[number] {
  return metric.aggregator === 'average' ? { ...metric, aggregator: 'max' } : metric;
}

function sumOf(parts: readonly Metrics[]): Registry {
  return AggregatorRegistry.aggregate([...parts]);
}
