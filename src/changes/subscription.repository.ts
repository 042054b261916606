import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { TenantryChange, ChangeLog } from '../journal/change-log';
import { changesAfter, type Followed } from '../journal/change-reader.repository';
import { endOf, journalStates, LAST_SEQ, type Position } from '../journal/journal-state';
import { columnOf, tableName } from '../database/columns';
import { ScopedTable } from '../database/scoped-table';
import type { Rows } from '../database/dialect';
import { SqlStatement, type Named } from '../database/sql-statement';
import { UnitOfWork } from '../database/unit-of-work';
import { topTenantOf } from '../tenancy/tenant-code';
import { Clock } from '../time/clock';
import { ZonedTime } from '../time/zoned-time';
import { LeaseRepository } from './lease.repository';
import { TenantryPosition, type TenantryWebhook } from './subscription.entity';

/** Which entries of a journal a subscription wants. */
export type Wanted = Omit<Followed, 'journal'>;

/** A webhook, and a journal with something that it has not seen. */
export interface DueWebhook extends Pick<TenantryWebhook, 'webhookId' | 'tenantId' | 'kinds'> {
  readonly topTenantId: string;
  readonly journal: string;
}

/** What a subscription has not seen of a journal. */
export interface News {
  readonly position: TenantryPosition;
  readonly entries: readonly TenantryChange[];
  /** Where the subscription stands once it has taken all of these entries. */
  readonly end: Position;
  readonly hasMore: boolean;
}

const PAGE = 100;
/** So many journals are found by one look; the next one finds others. */
const MOST_FOUND = 1000;
const DUE_PAGE = 1000;
export const NOT_FAILING = { attempts: 0, failingSince: null, retryAt: null } as const;

/** How far the subscriptions have come in the journal, which is their outbox. */
@Injectable()
export class SubscriptionRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    readonly clock: Clock,
    private readonly time: ZonedTime,
    readonly leases: LeaseRepository,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /** Tells of each journal that this process writes to. Gives a function that ends it. */
  onCommit(listener: (journal: string) => void): () => void {
    return this.#unitOfWork.onCommit((unit) => {
      for (const journal of unit.part(ChangeLog).versions.keys()) listener(journal);
    });
  }

  /**
   * Of all journals, or of these, those with something that this subscription has not seen and may try now. Exact: the version of
   * a tree is raised under its lock, so that all entries up to a committed version are visible.
   */
  async findDueJournals(subscription: string, journals: readonly string[] | null): Promise<string[]> {
    const rows = await this.#select(
      `SELECT t.tenant_id AS code FROM ${this.#table('tenant')} t
        LEFT JOIN :table p ON p.journal = t.tenant_id AND p.subscription = :subscription
        WHERE ${journals ? 't.tenant_id IN (:...journals) AND' : ''}
          (p.version IS NULL OR t.tree_ver > p.version OR p.seq < ${LAST_SEQ})
          AND (p.retry_at IS NULL OR p.retry_at <= :now) LIMIT ${MOST_FOUND}`,
      { subscription, ...(journals && { journals }) },
    );
    return rows.map(({ code }) => String(code));
  }

  /** Webhooks with something to send, which are not disabled, of tenants that are served today; in these journals a page, in all of them page by page. */
  async *findDueWebhooks(journals: readonly string[] | null): AsyncGenerator<DueWebhook, void> {
    let from = 0;
    for (;;) {
      const page = await this.#findDuePage(journals, from);
      yield* page;
      if (journals || page.length < DUE_PAGE) return;
      // Of the last one there may be another journal, so it is found again.
      from = page.at(-1)?.webhookId ?? 0;
    }
  }

  async #findDuePage(journals: readonly string[] | null, from: number): Promise<DueWebhook[]> {
    const rows = await this.#select(
      `SELECT w.webhook_id AS hook, w.tenant_id AS owner, w.kinds AS kinds, o.ancestors AS above, p.journal AS code
        FROM ${this.#table('webhook')} w
        JOIN ${this.#table('tenant')} o ON o.tenant_id = w.tenant_id
        JOIN :table p ON p.webhook_id = w.webhook_id
        JOIN ${this.#table('tenant')} t ON t.tenant_id = p.journal
        WHERE w.webhook_id >= :from AND ${journals ? 'p.journal IN (:...journals) AND' : ''} w.status = '0'
          AND o.del_flag = '0' AND o.status = '0' AND (o.start_time IS NULL OR o.start_time <= :today)
          AND (o.end_time IS NULL OR o.end_time >= :today)
          AND (t.tree_ver > p.version OR p.seq < ${LAST_SEQ})
          AND (p.retry_at IS NULL OR p.retry_at <= :now) ORDER BY w.webhook_id LIMIT ${DUE_PAGE}`,
      { from, today: this.time.day(this.clock.now()), ...(journals && { journals }) },
    );
    return rows.map(({ hook, owner, kinds, above, code }) => ({
      ...{ webhookId: Number(hook), tenantId: String(owner), kinds: String(kinds), journal: String(code) },
      topTenantId: topTenantOf(String(owner), String(above)),
    }));
  }

  /** Null when there is nothing to do; the position of a handler is made where there is none. */
  async findNews(subscription: string, journal: string, wanted: Wanted): Promise<News | null> {
    // On one connection: another node of a cluster may not have all entries up to the version yet.
    return this.#unitOfWork.withoutTransaction(async (manager) => {
      const positions = new ScopedTable(manager, TenantryPosition);
      const version = await treeVersionOf(manager, journal);
      let position = await positions.findOne({ journal, subscription });
      if (!position && subscription.startsWith('handler:')) {
        await positions.insert({ journal, subscription, webhookId: 0, ...endOf(-1), ...NOT_FAILING });
        position = await positions.findOne({ journal, subscription });
      }
      const isDue = position && (version > position.version || position.seq < LAST_SEQ);
      if (!position || !isDue || (position.retryAt && position.retryAt > this.clock.now())) return null;
      const changes = new ScopedTable(manager, TenantryChange);
      const page = { ...wanted, upTo: version, limit: PAGE + 1 };
      const found = await changesAfter(changes, journal, position, page);
      const entries = found.slice(0, PAGE);
      const hasMore = found.length > PAGE;
      return { position, entries, end: hasMore ? (entries.at(-1) ?? position) : endOf(version), hasMore };
    });
  }

  /** Moves on from where the position was read; false when another process has moved it, or it is gone. */
  async move({ journal, subscription }: TenantryPosition, from: Position, to: Position): Promise<boolean> {
    const at = ({ version, seq }: Position) => ({ journal, subscription, version, seq });
    const { version, seq } = to;
    // `to` as well: a repeated statement finds what it has done.
    const places = [at(from), at(to)];
    return (await this.#positions.update(places, { version, seq, ...NOT_FAILING })) === 1;
  }

  /** Notes a failed try of the entry after this place. */
  async postpone(
    { journal, subscription }: TenantryPosition,
    { version, seq }: Position,
    failure: Pick<TenantryPosition, 'attempts' | 'failingSince' | 'retryAt'>,
  ): Promise<void> {
    await this.#positions.update({ journal, subscription, version, seq }, failure);
  }

  get #positions(): ScopedTable<TenantryPosition> {
    return new ScopedTable(this.#unitOfWork.connections(), TenantryPosition);
  }

  /** Where `:table` is the table of positions, and `:now` the time. */
  async #select(sql: string, named: Named): Promise<Rows> {
    const connections = this.#unitOfWork.connections();
    const metadata = connections.dataSource.getMetadata(TenantryPosition);
    const statement = new SqlStatement(metadata);
    const now = statement.parameter(columnOf(metadata, 'retryAt'), this.clock.now());
    const text = statement.expression(sql, { ...named, now });
    return (await connections.run((manager) => statement.run(manager, text))).rows;
  }

  #table(name: 'tenant' | 'webhook'): string {
    return tableName(this.#unitOfWork.connections().dataSource, `tenantry_${name}`);
  }
}

/** The version of a tenant's tree; all entries up to it are visible on this connection. */
export async function treeVersionOf(manager: EntityManager, tenantId: string): Promise<number> {
  return (await journalStates(manager, [tenantId])).get(tenantId)?.version ?? 0;
}
