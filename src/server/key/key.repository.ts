import { Injectable } from '@nestjs/common';
import { In, Not, type EntityManager } from 'typeorm';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { OpenUnit } from '../../database/open-unit';
import { cutPage, type Page } from '../../database/page';
import type { Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { treeLock } from '../../journal/tree-lock';
import { JournalledRows, type Journalled } from '../../resource/journalled-rows.repository';
import type { RequestContext } from '../../tenancy/request-context';
import { TenantBound } from '../../tenancy/tenant-bound';
import { Clock } from '../../time/clock';
import { KeyEntity } from '../auth/account.entity';
import { findGrantedDepts, type GrantedDept } from '../auth/granted-depts.repository';
import { KEY_SHOWN, toKeyJournal, type KeyFields, type KeyRow } from './key.mapper';

const LIVE = { delFlag: '0' } as const;

/** The keys of a tenant: reading, and writing in a unit of work that locks the tenant. */
@Injectable()
export class KeyRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  in(ctx: RequestContext): KeyReader {
    return new KeyReader(this.#unitOfWork, ctx);
  }

  /** Runs `work` while neither the keys nor the departments of this tenant change. */
  transaction<T>(
    ctx: RequestContext,
    work: (keys: LockedKeys) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    const run = (unit: OpenUnit) => work(new LockedKeys(unit, ctx, this.clock.now()));
    return this.#unitOfWork.run(ctx.tenantId, treeLock(ctx), run, once);
  }
}

/** The keys of one tenant, read outside of any transaction. */
export class KeyReader {
  readonly #keys: TenantBound<KeyEntity>;

  constructor(unitOfWork: UnitOfWork, ctx: RequestContext) {
    this.#keys = new TenantBound(unitOfWork, KeyEntity, ctx);
  }

  async find(keyId: number): Promise<KeyRow | null> {
    const [key] = await this.#keys.pick({ keyId, ...LIVE }, KEY_SHOWN);
    return key ?? null;
  }

  /** Whether there is such a key, deleted or not. */
  everHad(keyId: number): Promise<boolean> {
    return this.#keys.exists({ keyId });
  }

  /** In the order of ids. */
  async findPage(after: Key | null, limit: number): Promise<Page<KeyRow>> {
    const rows = await this.#keys.pick(LIVE, KEY_SHOWN, { order: { keyId: 'ASC' }, after, limit: limit + 1 });
    return cutPage(rows, limit, ({ keyId }) => [keyId]);
  }
}

export const JOURNALLED_KEY: Journalled<KeyEntity> = {
  kind: 'key',
  noun: 'key',
  entity: KeyEntity,
  id: 'keyId',
  toJournal: toKeyJournal,
};

/** A tenant's keys inside a unit of work that locks the tenant. Only it writes them, but for the time of their last use. */
export class LockedKeys {
  readonly #manager: EntityManager;
  readonly #keys: TenantBound<KeyEntity>;
  readonly #rows: JournalledRows<KeyEntity>;

  constructor(
    unit: OpenUnit,
    private readonly ctx: RequestContext,
    readonly now: Date,
  ) {
    this.#manager = unit.manager;
    this.#keys = new TenantBound(unit.manager, KeyEntity, ctx);
    this.#rows = new JournalledRows(unit, ctx, now, JOURNALLED_KEY, this.#keys);
  }

  hasMoreThan(count: number): Promise<boolean> {
    return this.#keys.hasMoreThan(count, LIVE);
  }

  findMany(keyIds: readonly number[]): Promise<KeyEntity[]> {
    return this.#keys.find({ keyId: In([...keyIds]), ...LIVE }, { order: { keyId: 'ASC' } });
  }

  /** Whether another key has that name. */
  hasName(name: string, exceptId = 0): Promise<boolean> {
    return this.#keys.exists({ name, nameKey: 0, keyId: Not(exceptId) });
  }

  findDepts(deptIds: readonly number[]): Promise<GrantedDept[]> {
    return findGrantedDepts(this.#manager, this.ctx, deptIds);
  }

  async add(fields: KeyFields, secretHash: string): Promise<number> {
    const [keyId = 0] = await this.#rows.insert({ ...fields, secretHash, nameKey: 0 });
    return keyId;
  }

  /** Gives the new revision. */
  replace(key: KeyEntity, fields: KeyFields): Promise<number> {
    return this.#rows.update(key, fields);
  }

  /** A deleted key gives its name free. */
  markDeleted(keys: readonly KeyEntity[]): Promise<void> {
    return this.#rows.markDeleted(keys, { nameKey: () => 'key_id' });
  }
}
