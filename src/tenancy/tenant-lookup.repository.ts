import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { findRows } from '../database/prepared';
import type { UnitOfWork } from '../database/unit-of-work';
import { RequestContext } from './request-context';
import type { TenantOwned } from './tenant-bound';

/** The real one, also where the tests of a host hold the clock. */
const afterThisTurn = setImmediate;
const MAX_ROWS = 32;

interface Asked<E> {
  readonly id: number;
  readonly resolve: (row: E | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Which table, by which of its columns, and what rows must have besides. */
export interface LookupTable<E> {
  readonly entity: EntityTarget<E>;
  readonly id: keyof E & string;
  readonly where: Readonly<Partial<E>>;
}

/**
 * Looks up rows of one tenant by their ids. Those that are asked for in the same turn of the event loop share a
 * statement, which is sent when all of them have come: a look-up after a commit sees it. Each tenant has its own statement.
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

  async find(ctx: RequestContext, id: number): Promise<E | null> {
    RequestContext.require(ctx);
    const { tenantId } = ctx;
    return new Promise((resolve, reject) => {
      const asked = this.#asked.get(tenantId);
      if (asked) {
        asked.push({ id, resolve, reject });
        return;
      }
      this.#asked.set(tenantId, [{ id, resolve, reject }]);
      afterThisTurn(() => {
        this.#lookUp(tenantId);
      });
    });
  }

  #lookUp(tenantId: string): void {
    const asked = this.#asked.get(tenantId) ?? [];
    this.#asked.delete(tenantId);
    for (let from = 0; from < asked.length; from += MAX_ROWS) {
      void this.#answer(tenantId, asked.slice(from, from + MAX_ROWS));
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
      for (const { id, resolve } of asked) resolve(found.get(String(id)) ?? null);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
