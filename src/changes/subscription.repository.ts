import { Injectable } from '@nestjs/common';
import {
  And,
  In,
  LessThanOrEqual,
  MoreThanOrEqual,
  Raw,
  type EntityManager,
  type FindOptionsWhere,
} from 'typeorm';
import { ChangeEntity, type ChangeKind } from '../journal/change-log';
import { endOf, journalStates, LAST_SEQ, type Position } from '../journal/journal-state';
import { columnOf, tableName } from '../database/columns';
import { ScopedTable } from '../database/scoped-table';
import { SqlStatement } from '../database/sql-statement';
import { dataSourceOf } from '../database/tenantry.data-source';
import { UnitOfWork } from '../database/unit-of-work';
import { topTenantOf } from '../tenancy/tenant-code';
import { Clock } from '../time/clock';
import { ZonedTime } from '../time/zoned-time';
import { LeaseRepository } from './lease.repository';
import { PositionEntity, type WebhookEntity } from './subscription.entity';

/** Which entries of a journal a subscription wants. */
export interface Wanted {
  readonly kinds: readonly ChangeKind[];
  /** Of the entries about tenants, only those at or below this one. */
  readonly lineage?: string;
}

/** A webhook, and a journal with something that it has not seen. */
export interface DueWebhook extends Pick<WebhookEntity, 'webhookId' | 'tenantId' | 'kinds'> {
  readonly topTenantId: string;
  readonly journal: string;
}

/** What a subscription has not seen of a journal. */
export interface News {
  readonly position: PositionEntity;
  readonly entries: readonly ChangeEntity[];
  /** Where the subscription stands once it has taken all of these entries. */
  readonly end: Position;
  readonly hasMore: boolean;
}

const PAGE = 100;
/** So many journals are found by one look; the next one finds others. */
const MOST_FOUND = 1000;
const DUE_PAGE = 1000;
const ORDER = { version: 'ASC', seq: 'ASC' } as const;
export const NOT_FAILING = { attempts: 0, failingSince: null, retryAt: null } as const;

/** How far the subscriptions have come in the journal, which is their outbox. */
@Injectable()
export class SubscriptionRepository {
  readonly #do: UnitOfWork['withoutTransaction'];

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
    readonly leases: LeaseRepository,
  ) {
    this.#do = (work) => unitOfWork.withoutTransaction(work);
  }

  /**
   * Of all journals, or of these, those with something that this subscription has not seen and may try now. Exact: the version of
   * a tree is raised under its lock, so that all entries up to a committed version are visible.
   */
  async findDueJournals(subscription: string, journals: readonly string[] | null): Promise<string[]> {
    const { rows } = await this.#do((manager) => {
      const { statement, tables, now } = this.#positions(manager);
      const name = statement.placeOf(subscription);
      const ofThese = journals
        ? statement.expression('t.tenant_id IN (:...codes) AND', { codes: journals })
        : '';
      const sql = `SELECT t.tenant_id AS code FROM ${tables.tenant} t
        LEFT JOIN ${tables.position} p ON p.journal = t.tenant_id AND p.subscription = ${name}
        WHERE ${ofThese} (p.version IS NULL OR t.tree_ver > p.version OR p.seq < ${LAST_SEQ})
          AND (p.retry_at IS NULL OR p.retry_at <= ${now()}) LIMIT ${MOST_FOUND}`;
      return statement.run(manager, sql);
    });
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
    const today = this.time.day(this.clock.now());
    const { rows } = await this.#do((manager) => {
      const { statement, tables, now } = this.#positions(manager);
      const first = statement.placeOf(from);
      const ofThese = journals
        ? statement.expression('p.journal IN (:...codes) AND', { codes: journals })
        : '';
      const isServed = statement.expression(
        `o.del_flag = '0' AND o.status = '0' AND (o.start_time IS NULL OR o.start_time <= :today)
          AND (o.end_time IS NULL OR o.end_time >= :today)`,
        { today },
      );
      const sql = `SELECT w.webhook_id AS hook, w.tenant_id AS owner, w.kinds AS kinds, o.ancestors AS above, p.journal AS code
        FROM ${tables.webhook} w
        JOIN ${tables.tenant} o ON o.tenant_id = w.tenant_id
        JOIN ${tables.position} p ON p.webhook_id = w.webhook_id
        JOIN ${tables.tenant} t ON t.tenant_id = p.journal
        WHERE w.webhook_id >= ${first} AND ${ofThese} w.status = '0' AND ${isServed}
          AND (t.tree_ver > p.version OR p.seq < ${LAST_SEQ})
          AND (p.retry_at IS NULL OR p.retry_at <= ${now()}) ORDER BY w.webhook_id LIMIT ${DUE_PAGE}`;
      return statement.run(manager, sql);
    });
    return rows.map(({ hook, owner, kinds, above, code }) => ({
      ...{ webhookId: Number(hook), tenantId: String(owner), kinds: String(kinds), journal: String(code) },
      topTenantId: topTenantOf(String(owner), String(above)),
    }));
  }

  /** Null when there is nothing to do; the position of a handler is made where there is none. */
  async findNews(subscription: string, journal: string, { kinds, lineage }: Wanted): Promise<News | null> {
    // On one connection: another node of a cluster may not have all entries up to the version yet.
    return this.#do(async (manager) => {
      const positions = new ScopedTable(manager, PositionEntity);
      const version = await treeVersionOf(manager, journal);
      let position = await positions.findOne({ journal, subscription });
      if (!position && subscription.startsWith('handler:')) {
        await positions.insert({
          journal,
          subscription,
          version: -1,
          seq: LAST_SEQ,
          webhookId: 0,
          ...NOT_FAILING,
        });
        position = await positions.findOne({ journal, subscription });
      }
      const isDue = position && (version > position.version || position.seq < LAST_SEQ);
      if (!position || !isDue || (position.retryAt && position.retryAt > this.clock.now())) return null;
      const where: FindOptionsWhere<ChangeEntity> = {
        tenantId: journal,
        version: And(MoreThanOrEqual(position.version), LessThanOrEqual(version)),
        kind: In([...kinds]),
        ...(lineage !== undefined && {
          lineage: Raw((column) => `:instr(${column}, :code) > 0`, { code: `,${lineage},` }),
        }),
      };
      const options = { order: ORDER, after: [position.version, position.seq], limit: PAGE + 1 };
      const found = await new ScopedTable(manager, ChangeEntity).find(where, options);
      const entries = found.slice(0, PAGE);
      const hasMore = found.length > PAGE;
      return { position, entries, end: hasMore ? (entries.at(-1) ?? position) : endOf(version), hasMore };
    });
  }

  /** Moves on from where the position was read; false when another process has moved it, or it is gone. */
  async move({ journal, subscription }: PositionEntity, from: Position, to: Position): Promise<boolean> {
    const at = ({ version, seq }: Position) => ({ journal, subscription, version, seq });
    const { version, seq } = to;
    const moved = await this.#do((manager) =>
      // `to` as well: a repeated statement finds what it has done.
      new ScopedTable(manager, PositionEntity).update([at(from), at(to)], { version, seq, ...NOT_FAILING }),
    );
    return moved === 1;
  }

  /** Notes a failed try of the entry after this place. */
  async postpone(
    { journal, subscription }: PositionEntity,
    { version, seq }: Position,
    failure: Pick<PositionEntity, 'attempts' | 'failingSince' | 'retryAt'>,
  ): Promise<void> {
    const at = { journal, subscription, version, seq };
    await this.#do((manager) => new ScopedTable(manager, PositionEntity).update(at, failure));
  }

  #positions(manager: EntityManager) {
    const dataSource = dataSourceOf(manager);
    const metadata = dataSource.getMetadata(PositionEntity);
    const statement = new SqlStatement(metadata);
    const [position, tenant, webhook] = ['change_position', 'tenant', 'webhook'].map((name) =>
      tableName(dataSource, `tenantry_${name}`),
    );
    // Where it stands in the statement: places are numbered in their order.
    const now = () => statement.place(columnOf(metadata, 'retryAt'), this.clock.now());
    return { statement, tables: { position, tenant, webhook }, now };
  }
}

/** The version of a tenant's tree; all entries up to it are visible on this connection. */
export async function treeVersionOf(manager: EntityManager, tenantId: string): Promise<number> {
  return (await journalStates(manager, [tenantId])).get(tenantId)?.version ?? 0;
}
