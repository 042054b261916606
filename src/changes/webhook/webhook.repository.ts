import { Injectable, type Type } from '@nestjs/common';
import { In, LessThan, Not } from 'typeorm';
import { AuditStamp } from '../../database/audited';
import { TenantryChange, ChangeLog, type ChangeKind } from '../../journal/change-log';
import { followedBy } from '../../journal/change-reader.repository';
import { endOf } from '../../journal/journal-state';
import { RemovesExpired, removeSome } from '../../database/cleanup';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { OpenUnit } from '../../database/open-unit';
import { ScopedTable, type Key } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { RequestContext } from '../../tenancy/request-context';
import { treeLock } from '../../journal/tree-lock';
import type { ClientFields } from '../../resource/fields';
import { TenantBound } from '../../tenancy/tenant-bound';
import { Clock, daysBefore } from '../../time/clock';
import { cutPage, type Page } from '../../database/page';
import { TenantryDelivery, TenantryPosition, TenantryWebhook } from '../subscription.entity';
import { NOT_FAILING, treeVersionOf } from '../subscription.repository';
import { rotated } from './webhook-secret';
import type { CreateWebhookDto, WebhookDto } from './webhook.dto';

/** What a client decides about a webhook: every field that it may send. */
export type WebhookFields = ClientFields<TenantryWebhook, WebhookDto, keyof CreateWebhookDto>;
type Hook = Pick<TenantryWebhook, 'webhookId' | 'tenantId'>;
export type Delivery = Omit<TenantryDelivery, 'deliveryId' | 'webhook'>;

const KEPT_DAYS = 30;
/** The id of a message about a change. */
const MESSAGE = /^msg_(\d+)_(\d+)_(\d+)_\d+$/;

export function subscriptionOf(webhookId: number): string {
  return `webhook:${webhookId}`;
}

export function kindsOf({ kinds }: Pick<TenantryWebhook, 'kinds'>): ChangeKind[] {
  return kinds.split(',') as ChangeKind[];
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

  in(ctx: RequestContext): WebhookReader {
    return new WebhookReader(this.#unitOfWork, ctx);
  }

  transaction<T>(
    ctx: RequestContext,
    work: (hooks: LockedWebhooks) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    const run = (unit: OpenUnit) => work(new LockedWebhooks(unit, ctx, this.clock.now()));
    return this.#unitOfWork.run(ctx.tenantId, treeLock(ctx), run, once);
  }

  /** Whosever it is; null when it is disabled. For the worker alone, which knows its id from the database. */
  findActive(webhookId: number): Promise<TenantryWebhook | null> {
    return this.#of(TenantryWebhook).findOne({ webhookId, status: '0' });
  }

  hasActive(): Promise<boolean> {
    return this.#of(TenantryWebhook).exists({ status: '0' });
  }

  async disable({ webhookId, tenantId }: Hook, reason: string): Promise<void> {
    const ctx = RequestContext.system(tenantId);
    const touched = new AuditStamp(ctx.username, this.clock.now()).touched();
    const hooks = new TenantBound(this.#unitOfWork, TenantryWebhook, ctx);
    await hooks.update({ webhookId }, { status: '1', reason, ...touched });
  }

  /** Of any tenants; a webhook that is deleted meanwhile makes it fail. */
  async addDeliveries(deliveries: readonly Delivery[]): Promise<void> {
    await this.#of(TenantryDelivery).insert(...deliveries);
  }

  /** Removes some of the deliveries that are older than 30 days; gives how many. */
  @RemovesExpired('deliveries')
  removeExpired(): Promise<number> {
    const expired = { sentAt: LessThan(daysBefore(this.clock.now(), KEPT_DAYS)) };
    return this.#unitOfWork.withoutTransaction((manager) =>
      removeSome(manager, TenantryDelivery, 'deliveryId', expired),
    );
  }

  #of<E extends object>(entity: Type<E>): ScopedTable<E> {
    return new ScopedTable(this.#unitOfWork.connections(), entity);
  }
}

/** The webhooks of one tenant and what was sent to them, read outside of any transaction. */
export class WebhookReader {
  readonly #hooks: TenantBound<TenantryWebhook>;
  readonly #deliveries: TenantBound<TenantryDelivery>;
  readonly #changes: ScopedTable<TenantryChange>;

  constructor(unitOfWork: UnitOfWork, ctx: RequestContext) {
    this.#hooks = new TenantBound(unitOfWork, TenantryWebhook, ctx);
    this.#deliveries = new TenantBound(unitOfWork, TenantryDelivery, ctx);
    this.#changes = new ScopedTable(unitOfWork.connections(), TenantryChange);
  }

  find(webhookId: number): Promise<TenantryWebhook | null> {
    return this.#hooks.findOne({ webhookId });
  }

  async findPage(after: Key | null, limit: number): Promise<Page<TenantryWebhook>> {
    const rows = await this.#hooks.find({}, { order: { webhookId: 'ASC' }, after, limit: limit + 1 });
    return cutPage(rows, limit, ({ webhookId }) => [webhookId]);
  }

  /** The newest first. */
  async findDeliveries(webhookId: number, after: Key | null, limit: number): Promise<Page<TenantryDelivery>> {
    const options = { order: { deliveryId: 'DESC' }, after, limit: limit + 1 } as const;
    const rows = await this.#deliveries.find({ webhookId }, options);
    return cutPage(rows, limit, ({ deliveryId }) => [deliveryId]);
  }

  /** The last try of a message to a webhook, and the change that it is about; null when either is no longer kept. */
  async findMessage(
    webhookId: number,
    messageId: string,
  ): Promise<{ readonly last: TenantryDelivery; readonly entry: TenantryChange } | null> {
    const [, tenantId, version, seq] = MESSAGE.exec(messageId) ?? [];
    if (tenantId === undefined) return null;
    // What was never sent to the webhook may be none of its tenant's business.
    const newest = { order: { deliveryId: 'DESC' }, limit: 1 } as const;
    const [last] = await this.#deliveries.find({ webhookId, messageId }, newest);
    if (!last) return null;
    const entry = await this.#changes.findOne({ tenantId, version: Number(version), seq: Number(seq) });
    return entry && { last, entry };
  }
}

/** A tenant's webhooks in a unit of work that locks the tenant. */
export class LockedWebhooks {
  readonly #audit: AuditStamp;
  readonly #hooks: TenantBound<TenantryWebhook>;
  readonly #positions: ScopedTable<TenantryPosition>;

  constructor(
    private readonly unit: OpenUnit,
    private readonly ctx: RequestContext,
    private readonly now: Date,
  ) {
    this.#audit = new AuditStamp(ctx.username, now);
    this.#hooks = new TenantBound(unit.manager, TenantryWebhook, ctx);
    this.#positions = new ScopedTable(unit.manager, TenantryPosition);
  }

  hasMoreThan(count: number): Promise<boolean> {
    return this.#hooks.hasMoreThan(count, {});
  }

  find(webhookId: number): Promise<TenantryWebhook | null> {
    return this.#hooks.findOne({ webhookId });
  }

  async add(fields: WebhookFields, secret: string): Promise<number> {
    const row = { ...fields, secret, oldSecrets: null, reason: null };
    const webhookId = await this.#hooks.insert({ ...row, ...this.#audit.created() });
    await this.#follow(webhookId, fields);
    return webhookId;
  }

  /** What has failed is tried again at once. Gives the new revision. */
  async replace(hook: TenantryWebhook, fields: WebhookFields): Promise<number> {
    const { webhookId } = hook;
    const revision = await this.#change(hook, { ...fields, reason: null });
    await this.#positions.update({ webhookId }, NOT_FAILING);
    await this.#follow(webhookId, fields);
    return revision;
  }

  /** Gives the new secret. */
  async rotate(hook: TenantryWebhook): Promise<string> {
    const secrets = rotated(hook, this.now);
    await this.#change(hook, secrets);
    return secrets.secret;
  }

  async delete({ webhookId }: TenantryWebhook): Promise<void> {
    await this.#hooks.erase({ webhookId });
    await this.#positions.erase({ webhookId });
  }

  async #change({ webhookId, revision }: TenantryWebhook, fields: Partial<TenantryWebhook>): Promise<number> {
    await this.#hooks.update({ webhookId }, { ...fields, ...this.#audit.touched() });
    return revision + 1;
  }

  /** Journals that are new to a webhook begin now. */
  async #follow(webhookId: number, fields: WebhookFields): Promise<void> {
    const wanted = followedBy(this.ctx.tenantId, kindsOf(fields)).map(({ journal }) => journal);
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
