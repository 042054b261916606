import { Injectable } from '@nestjs/common';
import { In, LessThan, Not, type EntityManager } from 'typeorm';
import { RAISED } from '../../database/audited';
import { ChangeEntity, ChangeLog, type ChangeKind } from '../../journal/change-log';
import { endOf } from '../../journal/journal-state';
import { RemovesExpired, removeSome } from '../../database/cleanup';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { OpenUnit } from '../../database/open-unit';
import { ScopedTable, type Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { RequestContext } from '../../tenancy/request-context';
import { treeLock } from '../../journal/tree-lock';
import { TenantBound } from '../../tenancy/tenant-bound';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { Clock, daysBefore } from '../../time/clock';
import { cutPage, type Page } from '../../database/page';
import { DeliveryEntity, PositionEntity, WebhookEntity } from '../subscription.entity';
import { NOT_FAILING, treeVersionOf, type Wanted } from '../subscription.repository';
import { rotated } from './webhook-secret';

export type WebhookFields = Pick<WebhookEntity, 'url' | 'kinds' | 'status'>;
type Hook = Pick<WebhookEntity, 'webhookId' | 'tenantId'>;
export type Delivery = Omit<DeliveryEntity, 'deliveryId' | 'webhook'>;

const KEPT_DAYS = 30;
/** The id of a message about a change. */
const MESSAGE = /^msg_(\d+)_(\d+)_(\d+)_\d+$/;

export function subscriptionOf(webhookId: number): string {
  return `webhook:${webhookId}`;
}

export function kindsOf({ kinds }: Pick<WebhookEntity, 'kinds'>): ChangeKind[] {
  return kinds.split(',') as ChangeKind[];
}

/** What a webhook gets of a journal: its own tenant's, and of the platform's what happens to tenants at and below its own. */
export function wantedIn(hook: Pick<WebhookEntity, 'tenantId' | 'kinds'>, journal: string): Wanted {
  const kinds = kindsOf(hook);
  if (hook.tenantId === PLATFORM_TENANT) return { kinds };
  return journal === hook.tenantId
    ? { kinds: kinds.filter((kind) => kind !== 'tenant') }
    : { kinds: kinds.filter((kind) => kind === 'tenant'), lineage: hook.tenantId };
}

/** The webhooks of a tenant, and what was sent to them. */
@Injectable()
export class WebhookRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  find(ctx: RequestContext, webhookId: number): Promise<WebhookEntity | null> {
    return this.#do((manager) => new TenantBound(manager, WebhookEntity, ctx).findOne({ webhookId }));
  }

  async findPage(ctx: RequestContext, after: Key | null, limit: number): Promise<Page<WebhookEntity>> {
    const options = { order: { webhookId: 'ASC' }, after, limit: limit + 1 } as const;
    const rows = await this.#do((manager) => new TenantBound(manager, WebhookEntity, ctx).find({}, options));
    return cutPage(rows, limit, ({ webhookId }) => [webhookId]);
  }

  /** The newest first. */
  async findDeliveries(
    ctx: RequestContext,
    webhookId: number,
    after: Key | null,
    limit: number,
  ): Promise<Page<DeliveryEntity>> {
    const where = { webhookId, ...(after && { deliveryId: LessThan(Number(after[0])) }) };
    const options = { order: { deliveryId: 'DESC' }, limit: limit + 1 } as const;
    const rows = await this.#do((manager) =>
      new TenantBound(manager, DeliveryEntity, ctx).find(where, options),
    );
    return cutPage(rows, limit, ({ deliveryId }) => [deliveryId]);
  }

  /** The last try of a message to a webhook, and the change that it is about; null when either is no longer kept. */
  findMessage(
    ctx: RequestContext,
    webhookId: number,
    messageId: string,
  ): Promise<{ readonly last: DeliveryEntity; readonly entry: ChangeEntity } | null> {
    return this.#do(async (manager) => {
      const [, tenantId, version, seq] = MESSAGE.exec(messageId) ?? [];
      if (tenantId === undefined) return null;
      const options = { order: { deliveryId: 'DESC' }, limit: 1 } as const;
      const deliveries = new TenantBound(manager, DeliveryEntity, ctx);
      // What was never sent to the webhook may be none of its tenant's business.
      const [last] = await deliveries.find({ webhookId, messageId }, options);
      if (!last) return null;
      const place = { tenantId, version: Number(version), seq: Number(seq) };
      const entry = await new ScopedTable(manager, ChangeEntity).findOne(place);
      return entry && { last, entry };
    });
  }

  transaction<T>(
    ctx: RequestContext,
    work: (hooks: LockedWebhooks) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    const run = (unit: OpenUnit) => work(new LockedWebhooks(unit, ctx, this.clock.now()));
    return this.#unitOfWork.run(ctx.tenantId, treeLock(ctx), run, once);
  }

  /** Of these, whosever they are, those that are not disabled. For the worker alone, which knows their ids from the database. */
  findActive(webhookIds: readonly number[]): Promise<WebhookEntity[]> {
    const active = { webhookId: In([...webhookIds]), status: '0' };
    return this.#do((manager) => new ScopedTable(manager, WebhookEntity).find(active));
  }

  hasActive(): Promise<boolean> {
    return this.#do((manager) => new ScopedTable(manager, WebhookEntity).exists({ status: '0' }));
  }

  async disable({ webhookId, tenantId }: Hook, reason: string): Promise<void> {
    const disabled = { status: '1', reason, updateTime: this.clock.now(), updateBy: 'system', ...RAISED };
    await this.#do((manager) => this.#of(tenantId, manager, WebhookEntity).update({ webhookId }, disabled));
  }

  /** Of any tenants; a webhook that is deleted meanwhile makes it fail. */
  async addDeliveries(deliveries: readonly Delivery[]): Promise<void> {
    await this.#do((manager) => new ScopedTable(manager, DeliveryEntity).insert(...deliveries));
  }

  /** Removes some of the deliveries that are older than 30 days; gives how many. */
  @RemovesExpired('deliveries')
  removeExpired(): Promise<number> {
    const expired = { sentAt: LessThan(daysBefore(this.clock.now(), KEPT_DAYS)) };
    return this.#do((manager) => removeSome(manager, DeliveryEntity, 'deliveryId', expired));
  }

  #of<E extends { tenantId: string }>(tenantId: string, manager: EntityManager, entity: new () => E) {
    return new TenantBound(manager, entity, RequestContext.system(tenantId));
  }

  #do<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#unitOfWork.withoutTransaction(work);
  }
}

/** A tenant's webhooks in a unit of work that locks the tenant. */
export class LockedWebhooks {
  readonly #hooks: TenantBound<WebhookEntity>;
  readonly #positions: ScopedTable<PositionEntity>;

  constructor(
    private readonly unit: OpenUnit,
    private readonly ctx: RequestContext,
    private readonly now: Date,
  ) {
    this.#hooks = new TenantBound(unit.manager, WebhookEntity, ctx);
    this.#positions = new ScopedTable(unit.manager, PositionEntity);
  }

  hasMoreThan(count: number): Promise<boolean> {
    return this.#hooks.hasMoreThan(count, {});
  }

  find(webhookId: number): Promise<WebhookEntity | null> {
    return this.#hooks.findOne({ webhookId });
  }

  async add(fields: WebhookFields, secret: string): Promise<number> {
    const { username: createBy } = this.ctx;
    const audit = { createBy, createTime: this.now, updateBy: '', updateTime: null, revision: 0 };
    const row = { ...fields, secret, oldSecrets: null, reason: null, ...audit };
    const webhookId = await this.#hooks.insert(row);
    await this.#follow(webhookId, fields);
    return webhookId;
  }

  /** What has failed is tried again at once. Gives the new revision. */
  async replace(hook: WebhookEntity, fields: WebhookFields): Promise<number> {
    const { webhookId } = hook;
    const revision = await this.#change(hook, { ...fields, reason: null });
    await this.#positions.update({ webhookId }, NOT_FAILING);
    await this.#follow(webhookId, fields);
    return revision;
  }

  /** Gives the new secret. */
  async rotate(hook: WebhookEntity): Promise<string> {
    const secrets = rotated(hook, this.now);
    await this.#change(hook, secrets);
    return secrets.secret;
  }

  async delete({ webhookId }: WebhookEntity): Promise<void> {
    await this.#hooks.erase({ webhookId });
    await this.#positions.erase({ webhookId });
  }

  async #change({ webhookId, revision }: WebhookEntity, fields: Partial<WebhookEntity>): Promise<number> {
    const audit = { updateBy: this.ctx.username, updateTime: this.now, ...RAISED };
    await this.#hooks.update({ webhookId }, { ...fields, ...audit });
    return revision + 1;
  }

  /** Journals that are new to a webhook begin now. */
  async #follow(webhookId: number, fields: WebhookFields): Promise<void> {
    const { tenantId } = this.ctx;
    const wanted = [...new Set([tenantId, PLATFORM_TENANT])].filter(
      (journal) => wantedIn({ tenantId, ...fields }, journal).kinds.length > 0,
    );
    await this.#positions.erase({ webhookId, journal: Not(In(wanted)) });
    for (const journal of wanted) {
      if (await this.#positions.exists({ webhookId, journal })) continue;
      const { versions } = this.unit.part(ChangeLog);
      const version = versions.get(journal) ?? (await treeVersionOf(this.unit.manager, journal));
      const row = { journal, webhookId, subscription: subscriptionOf(webhookId), ...NOT_FAILING };
      await this.#positions.insert({ ...row, ...endOf(version) });
    }
  }
}
