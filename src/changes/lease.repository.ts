import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LessThanOrEqual } from 'typeorm';
import { isDuplicate } from '../database/retry-policy';
import { ScopedTable } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { Clock } from '../time/clock';
import { TenantryLease } from './subscription.entity';

/** A process that dies is missed for no longer than this. */
const LEASE_MS = 6000;
/** How often a lease is renewed while it is used. */
export const RENEW_MS = LEASE_MS / 3;

/** Which process serves which subscription. */
@Injectable()
export class LeaseRepository {
  readonly #unitOfWork: UnitOfWork;
  /** The name of this process. */
  readonly #owner = randomUUID();

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /** Makes this process the one that serves a subscription, or keeps it so; false while another does. */
  async take(name: string): Promise<boolean> {
    const now = this.clock.now();
    const renewed = { owner: this.#owner, expiresAt: new Date(now.getTime() + LEASE_MS) };
    const held = await this.#leases.findOne({ name });
    if (!held) {
      try {
        await this.#leases.insert({ name, ...renewed });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    }
    if (held.owner !== this.#owner && held.expiresAt > now) return false;
    const free = [
      { name, expiresAt: LessThanOrEqual(now) },
      { name, owner: this.#owner },
    ];
    return (await this.#leases.update(free, renewed)) === 1;
  }

  async release(name: string): Promise<void> {
    await this.#leases.erase({ name, owner: this.#owner });
  }

  get #leases(): ScopedTable<TenantryLease> {
    return new ScopedTable(this.#unitOfWork.connections(), TenantryLease);
  }
}
