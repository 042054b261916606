import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../tenancy/request-context';
import { ChangeReader } from './change-reader.repository';
import { endOf, type JournalState, type Position } from './journal-state';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { PagedList } from '../database/page';

/** Where a follower stands: in the journal of its tenant, and in the platform's, which tells of tenants. */
export interface FollowerPosition {
  readonly own: Position;
  readonly platform: Position;
}

/** Places in the journal as texts that clients hand back. */
@Injectable()
export class ChangeCursors {
  /**
   * Of the last second: an older cursor only shows changes again that a list has in it already. By default lru-cache would set a
   * timer for every millisecond.
   */
  readonly #recent = new LRUCache<string, string>({ max: 10_000, ttl: 1000, ttlResolution: 0 });

  constructor(private readonly reader: ChangeReader) {}

  /** A cursor such that whatever is read from now on has all changes before it. */
  async recent(ctx: RequestContext): Promise<string> {
    const known = this.#recent.get(ctx.tenantId);
    if (known !== undefined) return known;
    const cursor = sealPosition([ctx.tenantId], await this.now(ctx));
    this.#recent.set(ctx.tenantId, cursor);
    return cursor;
  }

  now(ctx: RequestContext): Promise<FollowerPosition> {
    return this.#position(ctx, 'version');
  }

  /** Before everything that is kept. */
  oldest(ctx: RequestContext): Promise<FollowerPosition> {
    return this.#position(ctx, 'keptFrom');
  }

  async #position({ tenantId }: RequestContext, place: keyof JournalState): Promise<FollowerPosition> {
    const states = await this.reader.statesOf([tenantId, PLATFORM_TENANT]);
    const at = (code: string): Position => endOf(states.get(code)?.[place] ?? 0);
    return { own: at(tenantId), platform: at(PLATFORM_TENANT) };
  }
}

const CHANGES = new PagedList('change', ['long', 'int', 'long', 'int']);

export function sealPosition(listed: readonly unknown[], { own, platform }: FollowerPosition): string {
  return CHANGES.seal(listed, [own.version, own.seq, platform.version, platform.seq]);
}

export function openPosition(listed: readonly unknown[], cursor: string): FollowerPosition {
  const key = CHANGES.open(listed, cursor, 'after').map(Number);
  const [version = 0, seq = 0, platformVersion = 0, platformSeq = 0] = key;
  return { own: { version, seq }, platform: { version: platformVersion, seq: platformSeq } };
}
