import type { EntityManager } from 'typeorm';
import type { IdempotentRequest } from './idempotent-request';
import { IdempotencyErrors } from './idempotency.errors';
import { insertRow } from './plain-rows';
import { toStored } from './stored-result';
import { CommitRecord } from './commit-record.entity';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The rows that units leave. */
export class CommitLog {
  constructor(private readonly now: () => Date) {}

  /** Writes the unit's own row in its own transaction; with what it gave, when a client may ask for it again. */
  async record(
    manager: EntityManager,
    unitId: string,
    once?: IdempotentRequest,
    result?: unknown,
  ): Promise<void> {
    await insertRow(manager, CommitRecord, {
      unitId,
      createdAt: this.now(),
      ...(once && { bodyHash: once.bodyHash, result: toStored(result) }),
    });
  }

  /** Whether a unit whose COMMIT was never answered did commit. */
  wasCommitted(manager: EntityManager, unitId: string): Promise<boolean> {
    return manager.existsBy(CommitRecord, { unitId });
  }

  /** What the same request gave before; null when it has not been here, or longer ago than a day. */
  async findAnswer(manager: EntityManager, once: IdempotentRequest): Promise<CommitRecord | null> {
    const unit = await manager.findOneBy(CommitRecord, { unitId: once.unitId });
    if (!unit || unit.createdAt < dayBefore(this.now())) return null;
    if (unit.bodyHash !== once.bodyHash) throw IdempotencyErrors.REUSED();
    return unit;
  }

  /** Makes room for a key that was used longer ago than a day. */
  async forget(manager: EntityManager, { unitId }: IdempotentRequest): Promise<void> {
    await manager.delete(CommitRecord, { unitId });
  }
}

/** Rows of units are kept for a day. */
export function dayBefore(now: Date): Date {
  return new Date(now.getTime() - DAY_MS);
}
