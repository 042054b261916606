import { Injectable } from '@nestjs/common';
import { DomainEvents } from '../database/domain-events';
import { ExpiringCache } from '../tenancy/expiring-cache';
import { TenantAdmission } from '../tenancy/tenant-access';
import { Clock } from '../time/clock';
import { ZonedTime } from '../time/zoned-time';
import { NOT_SERVED } from '../tenancy/tenant-access';
import { TenantEvent } from './tenant.events';
import { TenantFactsRepository } from './tenant-facts.repository';
import { tenantState, type TenantFacts, type TenantState } from './tenant-state';

const FRESH_MS = 5000;

/**
 * Lets users of active tenants in, without a query per request. What it remembers is at most five seconds old,
 * and is forgotten at once on the node that changes a tenant (on the others too, where they tell each other); the days
 * of a service period are held against the clock at every request.
 */
@Injectable()
export class TenantStateCache extends TenantAdmission {
  readonly #memory = new ExpiringCache<TenantFacts | null>(FRESH_MS);

  constructor(
    private readonly tenants: TenantFactsRepository,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
    events: DomainEvents,
  ) {
    super();
    // Before any handler of a host: who hears of a change must not meet the memory of what was.
    events.on(TenantEvent, ({ tenantId }) => {
      this.forget(tenantId);
    });
  }

  forget(tenantId: string): void {
    this.#memory.forget(tenantId);
  }

  forgetAll(): void {
    this.#memory.forgetIf(() => true);
  }

  override async admit(tenantId: string): Promise<void> {
    const state = await this.stateOf(tenantId);
    if (state !== 'ACTIVE') throw NOT_SERVED[state]();
  }

  async stateOf(tenantId: string): Promise<TenantState> {
    const facts = await this.#memory.get(tenantId, () => this.tenants.find(tenantId));
    return facts ? tenantState(facts, this.time.day(this.clock.now())) : 'DELETED';
  }
}
