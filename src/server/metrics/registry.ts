/**
 * The little of Prometheus' text format that the service needs. Not prom-client: it puts the labels of every count into order
 * again, and every host of the library would have to install it.
 */
export type Labels = Readonly<Record<string, string | number>>;

type Kind = 'counter' | 'gauge' | 'histogram';

/** Everything under one name. */
export abstract class Family {
  constructor(
    readonly name: string,
    private readonly help: string,
    private readonly kind: Kind,
  ) {}

  text(): string {
    return [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} ${this.kind}`, ...this.lines()].join(
      '\n',
    );
  }

  protected abstract lines(): string[];
}

/** What only grows; who counts often keeps the series. */
export class Counter extends Family {
  readonly #series = new Map<string, { value: number }>();

  constructor(name: string, help: string) {
    super(name, help, 'counter');
  }

  with(labels: Labels): { value: number } {
    return seriesIn(this.#series, labels, () => ({ value: 0 }));
  }

  protected override lines(): string[] {
    return [...this.#series].map(([labels, { value }]) => `${this.name}${braced(labels)} ${value}`);
  }
}

/** What is asked for only when somebody reads it. */
export class Observed extends Family {
  constructor(
    name: string,
    help: string,
    kind: 'counter' | 'gauge',
    private readonly read: () => readonly (readonly [labels: Labels, value: number])[],
  ) {
    super(name, help, kind);
  }

  protected override lines(): string[] {
    return this.read().map(([labels, value]) => `${this.name}${braced(written(labels))} ${value}`);
  }
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Durations of one series, by how long they were. */
class Durations {
  readonly counts = new Array<number>(SECONDS.length + 1).fill(0);
  sum = 0;

  observe(seconds: number): void {
    const found = SECONDS.findIndex((most) => seconds <= most);
    const bucket = found === -1 ? SECONDS.length : found;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}

export class Histogram extends Family {
  readonly #series = new Map<string, Durations>();

  constructor(name: string, help: string) {
    super(name, help, 'histogram');
  }

  with(labels: Labels): Pick<Durations, 'observe'> {
    return seriesIn(this.#series, labels, () => new Durations());
  }

  protected override lines(): string[] {
    return [...this.#series].flatMap(([labels, durations]) => this.#linesOf(labels, durations));
  }

  #linesOf(labels: string, { counts, sum }: Durations): string[] {
    let soFar = 0;
    const before = labels === '' ? '' : `${labels},`;
    const buckets = counts.map((count, bucket) => {
      soFar += count;
      return `${this.name}_bucket{${before}le="${SECONDS[bucket] ?? '+Inf'}"} ${soFar}`;
    });
    return [
      ...buckets,
      `${this.name}_sum${braced(labels)} ${sum}`,
      `${this.name}_count${braced(labels)} ${soFar}`,
    ];
  }
}

function seriesIn<T>(series: Map<string, T>, labels: Labels, make: () => T): T {
  const key = written(labels);
  const found = series.get(key) ?? make();
  series.set(key, found);
  return found;
}

function written(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value).replace(/[\\"\n]/g, escaped)}"`)
    .join(',');
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}
