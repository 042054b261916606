import { Injectable } from '@nestjs/common';
import { And, LessThan, LessThanOrEqual, MoreThan } from 'typeorm';
import { ChangeEntity } from './change-log';
import { HourlyCleaner } from '../database/hourly-cleaner';
import { Meter } from '../database/meter';
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
export class JournalCleaner extends HourlyCleaner {
  constructor(
    unitOfWork: UnitOfWork,
    reader: ChangeReader,
    { days }: JournalKeeping,
    clock: Clock,
    meter: Meter,
  ) {
    /** Before it there is nothing to remove, in this round. */
    let from: Date | null = null;

    const removeOf = (tenantId: string, expired: Date): Promise<number> =>
      unitOfWork.withoutTransaction(async (manager) => {
        const changes = new ScopedTable(manager, ChangeEntity);
        const version = LessThan(await reader.versionAt(tenantId, expired));
        const order = { version: 'ASC', seq: 'ASC' } as const;
        const last = (await changes.pick({ tenantId, version }, KEY, { order, limit: ROWS })).at(-1);
        if (!last) return 0;
        const before = await changes.erase({ tenantId, version: LessThan(last.version) });
        return (
          before + (await changes.erase({ tenantId, version: last.version, seq: LessThanOrEqual(last.seq) }))
        );
      });

    const removeExpired = async (): Promise<number> => {
      if (days === 0) return 0;
      const expired = daysBefore(clock.now(), days);
      for (;;) {
        const range = from === null ? LessThan(expired) : And(MoreThan(from), LessThan(expired));
        const found = await unitOfWork.withoutTransaction((manager) =>
          new ScopedTable(manager, ChangeEntity).pick({ happenedAt: range }, PLACE, {
            order: { happenedAt: 'ASC' },
            limit: ROWS,
          }),
        );
        let removed = 0;
        for (const tenantId of new Set(found.map((entry) => entry.tenantId)))
          removed += await removeOf(tenantId, expired);
        if (removed > 0) return removed;
        from = found.length === ROWS ? (found.at(-1)?.happenedAt ?? null) : null;
        if (from === null) return 0;
      }
    };
    super(meter, { changes: { removeExpired } });
  }
}
