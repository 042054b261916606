import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { findRows } from '../database/prepared';
import type { UnitOfWork } from '../database/unit-of-work';
import { RequestContext } from './request-context';
import type { TenantOwned } from './tenant-owned';

/** The real one, also where the tests of a host hold the clock. */
const afterThisTurn = setImmediate;
/** So many rows one statement looks up. */
const MOST = 32;

interface Asked<E> {
  readonly id: number;
  readonly answer: (row: E | null) => void;
  readonly fail: (error: unknown) => void;
}

/** Which table, by which of its columns, and what rows must have besides. */
export interface LookupTable<E> {
  readonly entity: EntityTarget<E>;
  readonly id: keyof E & string;
  readonly where: Readonly<Partial<E>>;
}

/**
 * Looks up rows of one tenant by their ids. Those that are asked for in the same turn of the event loop share a
 * statement, which is sent when all of them have come: who asks after a write was committed sees it. Each tenant has
 * its own statement, and none is without the tenant.
 */
export class TenantLookup<E extends TenantOwned & ObjectLiteral> {
  readonly #asked = new Map<string, Asked<E>[]>();
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly table: LookupTable<E>,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /** The row with this id, if it is the tenant's. */
  async find(ctx: RequestContext, id: number): Promise<E | null> {
    RequestContext.require(ctx);
    const { tenantId } = ctx;
    return new Promise((answer, fail) => {
      const asked = this.#asked.get(tenantId);
      if (asked) {
        asked.push({ id, answer, fail });
        return;
      }
      this.#asked.set(tenantId, [{ id, answer, fail }]);
      afterThisTurn(() => {
        this.#ask(tenantId);
      });
    });
  }

  #ask(tenantId: string): void {
    const asked = this.#asked.get(tenantId) ?? [];
    this.#asked.delete(tenantId);
    for (let from = 0; from < asked.length; from += MOST) {
      void this.#answer(tenantId, asked.slice(from, from + MOST));
    }
  }

  async #answer(tenantId: string, asked: readonly Asked<E>[]): Promise<void> {
    try {
      const { entity, id: property, where } = this.table;
      const ids = [...new Set(asked.map(({ id }) => id))];
      const rows = await this.#unitOfWork.withoutTransaction((manager) =>
        findRows(manager, entity, Object.assign({ tenantId }, where), { property, ids }),
      );
      // As text: that is how MySQL gives a host the ids in its own tables.
      const found = new Map(rows.map((row) => [String(row[property]), row]));
      for (const { id, answer } of asked) answer(found.get(String(id)) ?? null);
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }
}
