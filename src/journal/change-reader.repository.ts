import { Injectable } from '@nestjs/common';
import {
  And,
  In,
  LessThanOrEqual,
  MoreThan,
  MoreThanOrEqual,
  Raw,
  type FindOperator,
  type FindOptionsWhere,
} from 'typeorm';
import { ChangeEntity, type ChangeKind, type ChangeOperation } from './change-log';
import { ScopedTable, type FindOptions } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { endOf, journalStates, type JournalState, type Position } from './journal-state';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';

/** Which entries; what is absent does not matter. */
export interface ChangeFilters {
  readonly kinds: readonly ChangeKind[];
  /** Of the entries about tenants, only those at or below this one. */
  readonly lineage?: string;
  readonly operation?: ChangeOperation | undefined;
  readonly resourceId?: string | undefined;
  readonly by?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

interface After extends ChangeFilters {
  /** Entries of later versions are left out. */
  readonly upTo?: number;
  readonly limit: number;
}

interface Before extends ChangeFilters {
  /** Entries of earlier versions are left out. */
  readonly from: number;
  readonly limit: number;
}

const TIMES = ['version', 'seq', 'happenedAt'] as const;
const TIMES_AT_ONCE = 1000;
/** How far the clocks of two processes may be apart. */
export const CLOCKS_APART_MS = 60_000;
const LINEAGE = ['lineage'] as const;
const BY_COMMIT = { version: 'ASC', seq: 'ASC' } as const;

/** Reads the journals of tenants, in the order of their entries. It knows no callers: who may read what is the feed's matter. */
@Injectable()
export class ChangeReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  /** The first entries after a place. A commit makes all of its entries visible at once, after those of earlier versions. */
  findAfter(tenantId: string, after: Position, { upTo, limit, ...filters }: After): Promise<ChangeEntity[]> {
    const since = MoreThanOrEqual(after.version);
    const version = upTo === undefined ? since : And(since, LessThanOrEqual(upTo));
    return this.#find(tenantId, version, filters, {
      order: BY_COMMIT,
      after: [after.version, after.seq],
      limit,
    });
  }

  /** The last entries before a place, the newest first. */
  findBefore(
    tenantId: string,
    before: Position,
    { from, limit, ...filters }: Before,
  ): Promise<ChangeEntity[]> {
    const { version, seq } = before;
    const isBefore = Raw((column) => `(${column} < :version OR t.seq < :seq)`, {
      version,
      seq,
    }) as FindOperator<number>;
    const range: FindOperator<number> = And(MoreThanOrEqual(from), LessThanOrEqual(version), isBefore);
    return this.#find(tenantId, range, filters, { order: { version: 'DESC', seq: 'DESC' }, limit });
  }

  /**
   * The version that a tenant's tree had at this time: the last one with an entry of that time or before; 0 when there is none.
   * Versions decide, not times: another process may have written a later version with an earlier time.
   */
  async versionAt(tenantId: string, time: Date): Promise<number> {
    const newest = { order: { happenedAt: 'DESC' }, limit: 1, index: 'ix_change_time' } as const;
    const [latest] = await this.#pick(tenantId, { happenedAt: LessThanOrEqual(time) }, newest);
    let version = latest?.version ?? 0;
    const until = time.getTime() + CLOCKS_APART_MS;
    let after = latest && endOf(version);
    while (after) {
      const options = { order: BY_COMMIT, after: [after.version, after.seq], limit: TIMES_AT_ONCE };
      const entries = await this.#pick(tenantId, {}, { ...options, index: 'PRIMARY' });
      for (const entry of entries) if (entry.happenedAt <= time) version = entry.version;
      const isOver = entries.some(({ happenedAt }) => happenedAt.getTime() > until);
      after = isOver || entries.length < TIMES_AT_ONCE ? undefined : entries.at(-1);
    }
    return version;
  }

  /** The paths of tenants that have changed after a version of the platform's journal. */
  async lineagesAfter(version: number, limit: number): Promise<string[]> {
    const after = { tenantId: PLATFORM_TENANT, kind: 'tenant' as const, version: MoreThan(version) };
    const changes = await this.#unitOfWork.withoutTransaction((manager) =>
      new ScopedTable(manager, ChangeEntity).pick(after, LINEAGE, { order: BY_COMMIT, limit }),
    );
    return changes.map(({ lineage }) => lineage ?? '');
  }

  statesOf(tenantIds: readonly string[]): Promise<Map<string, JournalState>> {
    return this.#unitOfWork.withoutTransaction((manager) => journalStates(manager, tenantIds));
  }

  #pick(
    tenantId: string,
    where: FindOptionsWhere<ChangeEntity>,
    options: FindOptions<ChangeEntity>,
  ): Promise<Pick<ChangeEntity, (typeof TIMES)[number]>[]> {
    return this.#unitOfWork.withoutTransaction((manager) =>
      new ScopedTable(manager, ChangeEntity).pick({ ...where, tenantId }, TIMES, options),
    );
  }

  #find(
    tenantId: string,
    version: FindOperator<number>,
    { kinds, lineage, operation, resourceId, by, since, until }: ChangeFilters,
    options: FindOptions<ChangeEntity>,
  ): Promise<ChangeEntity[]> {
    const times = [since && MoreThanOrEqual(since), until && LessThanOrEqual(until)].filter(
      (each) => each !== undefined,
    );
    const where: FindOptionsWhere<ChangeEntity> = {
      tenantId,
      version,
      kind: In([...kinds]),
      ...(lineage !== undefined && {
        lineage: Raw((column) => `:instr(${column}, :code) > 0`, { code: `,${lineage},` }),
      }),
      ...(operation !== undefined && { operation }),
      ...(resourceId !== undefined && { resourceId }),
      ...(by !== undefined && { by }),
      ...(times.length > 0 && { happenedAt: And(...times) }),
    };
    return this.#unitOfWork.withoutTransaction((manager) =>
      new ScopedTable(manager, ChangeEntity).find(where, options),
    );
  }
}
