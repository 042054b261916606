import { Column, Entity, Index, LessThan, PrimaryColumn, type EntityManager } from 'typeorm';
import { daysBefore } from '../time/clock';
import { removeSome } from './cleanup';
import { BY_MIGRATIONS, ascii, instant, text } from './columns';
import { IdempotencyErrors } from './database.errors';
import type { IdempotentRequest } from './idempotent-request';
import { ScopedTable } from './scoped-table';

/** How long the JSON may be that a repeated request is answered from. */
const MAX_BYTES = 64 * 1024;
const RULE = 'The result of a transaction that takes effect once must be JSON';

/**
 * One row per committed unit of work, written in its own transaction. When the answer to a COMMIT is lost,
 * the row tells whether it happened. Rows older than a day are removed.
 */
@Entity('tenantry_unit', BY_MIGRATIONS)
export class TenantryCommit {
  /** Made from a client's Idempotency-Key where there is one. */
  @PrimaryColumn({ name: 'unit_id', type: 'varchar', length: 36, ...ascii })
  unitId!: string;

  @Index('ix_unit_created')
  @Column({ name: 'created_at', ...instant })
  createdAt!: Date;

  @Column({ name: 'body_hash', type: 'varchar', length: 64, nullable: true, ...ascii })
  bodyHash!: string | null;

  /** JSON of up to 64 KB: what the request with that key is answered. */
  @Column({ type: 'text', nullable: true, ...text })
  result!: string | null;
}

export class CommitLog {
  constructor(private readonly now: () => Date) {}

  async record(
    manager: EntityManager,
    unitId: string,
    request?: IdempotentRequest,
    result?: unknown,
  ): Promise<void> {
    await recordsOf(manager).insert({
      unitId,
      createdAt: this.now(),
      ...(request && { bodyHash: request.bodyHash, result: toStored(result) }),
    });
  }

  wasCommitted(manager: EntityManager, unitId: string): Promise<boolean> {
    return recordsOf(manager).exists({ unitId });
  }

  /** What the same request gave before; null when there was none within a day. */
  async findAnswer(manager: EntityManager, request: IdempotentRequest): Promise<TenantryCommit | null> {
    const record = await recordsOf(manager).findOne({ unitId: request.unitId });
    if (!record || record.createdAt < dayBefore(this.now())) return null;
    if (record.bodyHash !== request.bodyHash) throw IdempotencyErrors.REUSED();
    return record;
  }

  /** Makes room for a key that was used longer ago than a day. */
  async forget(manager: EntityManager, { unitId }: IdempotentRequest): Promise<void> {
    await recordsOf(manager).erase({ unitId });
  }

  removeExpired(manager: EntityManager): Promise<number> {
    return removeSome(manager, TenantryCommit, 'unitId', { createdAt: LessThan(dayBefore(this.now())) });
  }
}

function recordsOf(manager: EntityManager): ScopedTable<TenantryCommit> {
  return new ScopedTable(manager, TenantryCommit);
}

function dayBefore(now: Date): Date {
  return daysBefore(now, 1);
}

/**
 * A result as it is stored. One that would not come back as it is, or is too long, is a mistake of the code that made it:
 * refused here, before COMMIT, on every database alike.
 */
export function toStored(result: unknown): string | null {
  if (result === undefined) return null;
  const json = JSON.stringify(result, refuseUnlikeJson);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_BYTES) throw new Error(`${RULE} of at most ${MAX_BYTES} bytes; it has ${bytes} bytes.`);
  return json;
}

export function fromStored(stored: string | null): unknown {
  return stored === null ? undefined : JSON.parse(stored);
}

/** A replacer of `JSON.stringify`. It must look at the holder: `toJSON` has been called on the value. */
function refuseUnlikeJson(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const given = this[key];
  const isLeftOut = given === undefined && !Array.isArray(this);
  if (!isLeftOut && (given !== value || !isJson(given)))
    throw new Error(`${RULE}; '${key}' is ${Object.prototype.toString.call(given)}.`);
  return value;
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  // A Map or an Error would become an empty object; an object of a class keeps its fields.
  return ['[object Object]', '[object Array]'].includes(Object.prototype.toString.call(value));
}
