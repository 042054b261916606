import { Injectable } from '@nestjs/common';
import { And, In, LessThanOrEqual, MoreThanOrEqual, Raw, type FindOptionsWhere } from 'typeorm';
import { ChangeEntity, type ChangeKind } from '../database/change-log';
import { tableName } from '../database/columns';
import { dialectOf } from '../database/dialects';
import { runPrepared } from '../database/prepared';
import { ScopedTable } from '../database/scoped-table';
import { dataSourceOf } from '../database/tenantry.data-source';
import { UnitOfWork } from '../database/unit-of-work';

/** A place in the journal of a tenant: the entries after it are those that a reader has not seen. */
export interface Position {
  readonly version: number;
  readonly seq: number;
}

export const BEGINNING: Position = { version: -1, seq: 0 };

/** The place after all entries of a version. */
export function endOf(version: number): Position {
  return { version, seq: 2 ** 31 - 1 };
}

export interface Wanted {
  readonly kinds: readonly ChangeKind[];
  /** Of the entries about tenants, only those at or below this one. */
  readonly lineage?: string | undefined;
  /** Entries of later versions are left out. */
  readonly upTo?: number;
  readonly limit: number;
}

/** How far the journal of a tenant goes. */
export interface JournalState {
  /** Of the tenant's tree: all entries up to it are committed. */
  readonly version: number;
  /** Everything after this version is kept. */
  readonly keptFrom: number;
}

const ORDER = { version: 'ASC', seq: 'ASC' } as const;

/** Reads the journals of tenants, in the order of their entries. It knows no callers: who may read what is the feed's matter. */
@Injectable()
export class ChangeReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  /** The first entries after a place. A commit makes all of its entries visible at once, after those of earlier versions. */
  findAfter(tenantId: string, after: Position, wanted: Wanted): Promise<ChangeEntity[]> {
    const { kinds, lineage, upTo, limit } = wanted;
    const version = MoreThanOrEqual(after.version);
    const where: FindOptionsWhere<ChangeEntity> = {
      tenantId,
      version: upTo === undefined ? version : And(version, LessThanOrEqual(upTo)),
      kind: In([...kinds]),
      ...(lineage !== undefined && {
        lineage: Raw((column) => `:instr(${column}, :code) > 0`, { code: `,${lineage},` }),
      }),
    };
    const options = { order: ORDER, after: [after.version, after.seq], limit };
    return this.#unitOfWork.withoutTransaction((manager) =>
      new ScopedTable(manager, ChangeEntity).find(where, options),
    );
  }

  /** Of tenants that exist, deleted or not. */
  async statesOf(tenantIds: readonly string[]): Promise<Map<string, JournalState>> {
    const { rows } = await this.#unitOfWork.withoutTransaction((manager) => {
      const dataSource = dataSourceOf(manager);
      const [tenants, changes] = ['tenantry_tenant', 'tenantry_change'].map((name) =>
        tableName(dataSource, name),
      );
      const places = tenantIds.map((_, index) => dialectOf(dataSource).place(index + 1));
      const sql = `SELECT t.tenant_id AS code, t.tree_ver AS version, (SELECT c.prev FROM ${changes} c
        WHERE c.tenant_id = t.tenant_id ORDER BY c.version, c.seq LIMIT 1) AS kept
        FROM ${tenants} t WHERE t.tenant_id IN (${places.join(', ')})`;
      return runPrepared(manager, sql, [...tenantIds]);
    });
    return new Map(
      rows.map(({ code, version, kept }) => [
        String(code),
        { version: Number(version), keptFrom: Number(kept ?? 0) },
      ]),
    );
  }
}
