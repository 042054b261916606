import { Meter, type UnitFault } from '../../database/meter';
import { Counter, Histogram, type Family } from './registry';

const FAULTS: readonly UnitFault[] = ['conflict', 'busy', 'unreachable', 'lost', 'crowded'];

/** Counts what units of work and cleanups go through. */
export class UnitMetrics extends Meter {
  readonly #waits = new Histogram(
    'tenantry_unit_wait_seconds',
    'How long units of work waited for others of their tenant; its count is that of the units.',
  );
  readonly #retries = new Counter(
    'tenantry_unit_retries_total',
    'Tries that had to be made again, by fault.',
  );
  readonly #givenUp = new Counter('tenantry_unit_given_up_total', 'Units that ended in a 503, by cause.');
  readonly #removed = new Counter(
    'tenantry_cleanup_removed_rows_total',
    'Expired rows that the hourly cleanup has removed, by table.',
  );
  readonly #failures = new Counter(
    'tenantry_cleanup_failures_total',
    'Hourly cleanups that failed, by table.',
  );
  readonly #all = this.#waits.with({});

  readonly families: readonly Family[] = [
    this.#waits,
    this.#retries,
    this.#givenUp,
    this.#removed,
    this.#failures,
  ];

  constructor() {
    super();
    // From the start, so that the first of its kind is a growth.
    for (const fault of FAULTS) this.#retries.with({ fault });
    for (const cause of [...FAULTS, 'queue']) this.#givenUp.with({ cause });
  }

  override unitBegan(waitedMs: number): void {
    this.#all.observe(waitedMs / 1000);
  }

  override unitRetried(fault: UnitFault): void {
    this.#retries.with({ fault }).value += 1;
  }

  override unitGaveUp(cause: UnitFault | 'queue'): void {
    this.#givenUp.with({ cause }).value += 1;
  }

  override rowsRemoved(table: string, count: number): void {
    this.#removed.with({ table }).value += count;
    this.#failures.with({ table });
  }

  override cleanupFailed(table: string): void {
    this.#failures.with({ table }).value += 1;
  }
}
