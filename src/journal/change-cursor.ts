import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { UnitOfWork } from '../database/unit-of-work';
import type { RequestContext } from '../tenancy/request-context';
import { endOf, journalStates, type Position } from './journal-state';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { Cursors } from '../database/page';

/** Where a follower stands: in the journal of its tenant, and in the platform's, which tells of tenants. */
export interface FollowerPosition {
  readonly own: Position;
  readonly platform: Position;
}

/** Places in the journal as texts that clients hand back. */
@Injectable()
export class ChangeCursors {
  readonly #unitOfWork: UnitOfWork;
  /** Of the last second: an older cursor only shows changes again that a list has in it already. */
  readonly #recent = new LRUCache<string, string>({ max: 10_000, ttl: 1000 });

  constructor(
    unitOfWork: UnitOfWork,
    private readonly cursors: Cursors,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /** A cursor such that whatever is read from now on has all changes before it. */
  async recent(ctx: RequestContext): Promise<string> {
    const known = this.#recent.get(ctx.tenantId);
    if (known !== undefined) return known;
    const cursor = await this.seal(ctx, await this.now(ctx));
    this.#recent.set(ctx.tenantId, cursor);
    return cursor;
  }

  async now({ tenantId }: RequestContext): Promise<FollowerPosition> {
    const states = await this.#unitOfWork.withoutTransaction((manager) =>
      journalStates(manager, [tenantId, PLATFORM_TENANT]),
    );
    const at = (code: string): Position => endOf(states.get(code)?.version ?? 0);
    return { own: at(tenantId), platform: at(PLATFORM_TENANT) };
  }

  seal(ctx: RequestContext, { own, platform }: FollowerPosition): Promise<string> {
    return this.cursors.seal(listOf(ctx), [own.version, own.seq, platform.version, platform.seq]);
  }

  async open(ctx: RequestContext, cursor: string): Promise<FollowerPosition> {
    const [version, seq, ...platform] = (await this.cursors.open(listOf(ctx), cursor, 'after')).map(Number);
    return {
      own: { version: version ?? 0, seq: seq ?? 0 },
      platform: { version: platform[0] ?? 0, seq: platform[1] ?? 0 },
    };
  }
}

function listOf({ tenantId }: RequestContext): readonly unknown[] {
  return ['change', tenantId];
}
