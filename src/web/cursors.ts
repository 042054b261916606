import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SettingRepository } from '../database/setting.repository';
import { HttpErrors } from '../errors/http.errors';
import type { Key } from '../database/key-range';
import type { Page, PageView } from './page';
import { PageQuery } from './page-query.dto';

const SEAL_BYTES = 16;
/** Host code asks with plain objects, which have no defaults of their own. */
const { limit: DEFAULT_LIMIT = 1 } = new PageQuery();
const NOT_A_CURSOR = {
  field: 'cursor',
  message: {
    zh: '游标无效，或不属于此列表和筛选条件',
    en: 'is not a cursor for this list and these filters',
  },
};

/**
 * Turns places in a list into texts that clients hand back. Each is sealed, together with the tenant, the list and
 * its filters, by a key that is kept in the database: all processes on it accept each other's, and nobody else's.
 */
@Injectable()
export class Cursors {
  #key: Promise<KeyObject> | undefined;

  constructor(private readonly settings: SettingRepository) {}

  /** Reads the part of a list that a request asks for. `list` names the list, with its filters. */
  async page<T>(
    list: readonly unknown[],
    { limit = DEFAULT_LIMIT, cursor }: PageQuery,
    read: (after: Key | null, limit: number) => Promise<Page<T>>,
  ): Promise<PageView<T>> {
    const after = cursor === undefined ? null : await this.#open(list, cursor);
    const { rows, hasMore, last } = await read(after, limit);
    return { rows, nextCursor: hasMore && last ? await this.#close(list, last) : null, hasMore };
  }

  async #close(list: readonly unknown[], key: Key): Promise<string> {
    const text = Buffer.from(JSON.stringify(key)).toString('base64url');
    return `${text}.${(await this.#seal(list, text)).toString('base64url')}`;
  }

  async #open(list: readonly unknown[], cursor: string): Promise<Key> {
    const [text = '', sent = ''] = cursor.split('.');
    const seal = await this.#seal(list, text);
    const given = Buffer.from(sent, 'base64url');
    const genuine = given.length === SEAL_BYTES && timingSafeEqual(seal, given);
    // Base64 has several spellings of the same bytes; only ours is a cursor.
    if (!genuine || cursor !== `${text}.${seal.toString('base64url')}`) {
      throw HttpErrors.INVALID({ fields: [NOT_A_CURSOR] });
    }
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Key;
  }

  async #seal(list: readonly unknown[], text: string): Promise<Buffer> {
    this.#key ??= this.#loadKey();
    const hmac = createHmac('sha256', await this.#key).update(JSON.stringify([list, text]));
    return hmac.digest().subarray(0, SEAL_BYTES);
  }

  async #loadKey(): Promise<KeyObject> {
    try {
      return createSecretKey(await this.settings.get('cursor-key'), 'hex');
    } catch (error) {
      this.#key = undefined;
      throw error;
    }
  }
}

/** The filters of a list, in one order, whatever order they were sent in; the page's own part left out. */
export function filtersOf({ limit: _, cursor: __, ...filters }: PageQuery): unknown[] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
