/** What made a unit of work begin again: another unit, another process, or a server or connection that went away. */
export type UnitFault = 'conflict' | 'busy' | 'unreachable' | 'lost' | 'crowded';

/** Is told what the library's units of work and cleanups go through, to count it; it must be quick and must not throw. */
export abstract class Meter {
  /** A unit's turn has come, after this long in the queue of its tenant. */
  abstract unitBegan(waitedMs: number): void;
  /** A try was interrupted; there will be another. */
  abstract unitRetried(fault: UnitFault): void;
  /** There will be none: the caller gets a 503. `queue` when its turn did not come in time. */
  abstract unitGaveUp(cause: UnitFault | 'queue'): void;
  /** An hourly cleanup has removed so many rows. Told at the start with 0, for each table. */
  rowsRemoved?(table: string, count: number): void;
  /** An hourly cleanup has failed; there will be another in an hour. */
  cleanupFailed?(table: string): void;
  /** A message was sent to a webhook. `failed` when there was no answer, or another one than 2xx. */
  webhookSent?(outcome: 'delivered' | 'failed'): void;
  /** More of a kind of quota was asked for than is available. */
  quotaRefused?(kind: string): void;
}

export class SilentMeter extends Meter {
  override unitBegan(): void {
    return;
  }
  override unitRetried(): void {
    return;
  }
  override unitGaveUp(): void {
    return;
  }
}
