import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ScopedTable } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import type { Principal } from '../../tenancy/principal';
import { KeyEntity } from './account.entity';
import { grantedTo } from './grantee.entity';

const FACTS = [
  'keyId',
  'tenantId',
  'name',
  'status',
  'permissions',
  'endTime',
  'roles',
  'managedDeptIds',
  'dataScope',
  'scopeDeptIds',
] as const;
const MINUTE_MS = 60_000;

/** A key that is enabled. */
export interface KnownKey extends Pick<KeyEntity, 'keyId' | 'endTime'> {
  readonly principal: Principal;
}

/** Keys as callers bring them: used before there is a context, so the hash of the secret alone names the key. */
@Injectable()
export class KeyUseRepository implements OnModuleDestroy {
  readonly #logger = new Logger('Keys');
  readonly #keys: ScopedTable<KeyEntity>;
  /** The minutes of the uses that were written here, by the ids of the keys. */
  readonly #written = new LRUCache<number, number>({ max: 10_000 });
  readonly #writing = new Set<Promise<void>>();

  constructor(unitOfWork: UnitOfWork) {
    this.#keys = new ScopedTable(unitOfWork.connections(), KeyEntity);
  }

  async find(secretHash: string): Promise<KnownKey | null> {
    const [key] = await this.#keys.pick({ secretHash, delFlag: '0', status: '0' }, FACTS);
    if (!key) return null;
    const { keyId, tenantId, name, permissions, endTime } = key;
    const principal = Object.freeze({
      ...{ subject: `key:${keyId}`, tenantId, username: `key:${name}`, sessionId: null },
      ...grantedTo(key, null),
      permissions: Object.freeze(permissions.split(' ')),
    });
    return { keyId, endTime, principal };
  }

  /** Writes that a key was used, once a minute; nobody waits for it, and a use that cannot be written is lost. */
  noteUse({ keyId, principal: { tenantId } }: KnownKey, now: Date): void {
    const minute = Math.floor(now.getTime() / MINUTE_MS);
    if (this.#written.get(keyId) === minute) return;
    this.#written.set(keyId, minute);
    const lastUsedTime = new Date(minute * MINUTE_MS);
    const writing = this.#keys
      .update({ keyId, tenantId }, { lastUsedTime })
      .catch((error: unknown) => {
        this.#logger.debug({ err: error }, 'the last use of a key was not written');
      })
      .then(() => void this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Before the connections are closed. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.#writing);
  }
}
