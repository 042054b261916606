import { Injectable } from '@nestjs/common';
import { And, LessThan, LessThanOrEqual, MoreThan } from 'typeorm';
import { TenantryChange } from './change-log';
import { RemovesExpired } from '../database/cleanup';
import { ScopedTable } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { Clock, daysBefore } from '../time/clock';
import { ChangeReader } from './change-reader.repository';

/** So few that no other statement waits for long. */
const ROWS = 500;
const PLACE = ['tenantId', 'happenedAt'] as const;
const KEY = ['version', 'seq'] as const;

/** How long entries are kept (retention). */
export abstract class JournalKeeping {
  /** 0 keeps all of them. */
  abstract readonly days: number;
}

/**
 * Removes entries that are older than they are kept, of each tenant from the oldest on. The newest of them stays: it tells how
 * things were when the part began that is kept.
 */
@Injectable()
export class JournalCleaner {
  readonly #unitOfWork: UnitOfWork;
  /** Before it there is nothing to remove, in this round. */
  #from: Date | null = null;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly reader: ChangeReader,
    private readonly keeping: JournalKeeping,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  @RemovesExpired('changes')
  async removeExpired(): Promise<number> {
    if (this.keeping.days === 0) return 0;
    const expired = daysBefore(this.clock.now(), this.keeping.days);
    for (;;) {
      const found = await this.#findOld(expired);
      let removed = 0;
      for (const tenantId of new Set(found.map((entry) => entry.tenantId)))
        removed += await this.#removeOf(tenantId, expired);
      if (removed > 0) return removed;
      this.#from = found.length === ROWS ? (found.at(-1)?.happenedAt ?? null) : null;
      if (this.#from === null) return 0;
    }
  }

  #findOld(expired: Date): Promise<Pick<TenantryChange, (typeof PLACE)[number]>[]> {
    const range = this.#from === null ? LessThan(expired) : And(MoreThan(this.#from), LessThan(expired));
    const options = { order: { happenedAt: 'ASC' }, limit: ROWS } as const;
    return this.#changes.pick({ happenedAt: range }, PLACE, options);
  }

  async #removeOf(tenantId: string, expired: Date): Promise<number> {
    const version = LessThan(await this.reader.versionAt(tenantId, expired));
    const order = { version: 'ASC', seq: 'ASC' } as const;
    const last = (await this.#changes.pick({ tenantId, version }, KEY, { order, limit: ROWS })).at(-1);
    if (!last) return 0;
    const before = await this.#changes.erase({ tenantId, version: LessThan(last.version) });
    const rest = { tenantId, version: last.version, seq: LessThanOrEqual(last.seq) };
    return before + (await this.#changes.erase(rest));
  }

  get #changes(): ScopedTable<TenantryChange> {
    return new ScopedTable(this.#unitOfWork.connections(), TenantryChange);
  }
}
