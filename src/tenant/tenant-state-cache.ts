import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DomainEvents } from '../database/domain-events';
import { FactCache } from '../tenancy/fact-cache';
import { NOT_SERVED, TenantAdmission } from '../tenancy/tenant-access';
import { topTenantOf } from '../tenancy/tenant-code';
import { Clock } from '../time/clock';
import { ZonedTime } from '../time/zoned-time';
import { TenantEvent } from './tenant.events';
import { tenantState, type TenantFacts, type TenantState } from './tenant-state';
import { TenantRepository } from './tenant.repository';

/**
 * Lets users of active tenants in, without a query per request. A tenant that changes is forgotten at once in this process,
 * and in others where Redis connects them; the days of a service period are held against the clock at every request.
 */
@Injectable()
export class TenantStateCache extends TenantAdmission {
  readonly #facts = new FactCache<TenantFacts | null>();
  readonly #topTenants = new LRUCache<string, string>({ max: 10_000 });

  constructor(
    private readonly tenants: TenantRepository,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
    events: DomainEvents,
  ) {
    super();
    // Before any listener of a host: it must not meet what was true before the change.
    events.on(TenantEvent, ({ tenantId }) => {
      this.forget(tenantId);
    });
  }

  forget(tenantId: string): void {
    this.#facts.delete(tenantId);
  }

  forgetAll(): void {
    this.#facts.clear();
  }

  override async admit(tenantId: string): Promise<string> {
    const state = await this.stateOf(tenantId);
    if (state !== 'ACTIVE') throw NOT_SERVED[state]();
    return this.knownTopTenantOf(tenantId);
  }

  override knownTopTenantOf(tenantId: string): string {
    return this.#topTenants.get(tenantId) ?? tenantId;
  }

  async stateOf(tenantId: string): Promise<TenantState> {
    const facts = await this.#facts.lookUp(tenantId, () => this.#find(tenantId));
    return facts ? tenantState(facts, this.time.day(this.clock.now())) : 'DELETED';
  }

  async #find(tenantId: string): Promise<TenantFacts | null> {
    const facts = await this.tenants.findFacts(tenantId);
    if (facts) this.#topTenants.set(tenantId, topTenantOf(tenantId, facts.ancestors));
    return facts;
  }
}
