import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LessThanOrEqual } from 'typeorm';
import { isDuplicate } from '../database/retry-policy';
import { ScopedTable } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { Clock } from '../time/clock';
import { LeaseEntity } from './subscription.entity';

/** A process that dies is missed for no longer than this. */
const LEASE_MS = 6000;
/** How often a lease is renewed while it is used. */
export const RENEW_MS = LEASE_MS / 3;

/** Which process serves which subscription. */
@Injectable()
export class LeaseRepository {
  readonly #do: UnitOfWork['withoutTransaction'];
  /** The name of this process. */
  readonly #owner = randomUUID();

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#do = (work) => unitOfWork.withoutTransaction(work);
  }

  /** Makes this process the one that serves a subscription; false while another does. */
  take(name: string): Promise<boolean> {
    return this.#do(async (manager) => {
      const leases = new ScopedTable(manager, LeaseEntity);
      const now = this.clock.now();
      const renewed = { owner: this.#owner, expiresAt: new Date(now.getTime() + LEASE_MS) };
      const held = await leases.findOne({ name });
      if (!held) {
        try {
          await leases.insert({ name, ...renewed });
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
      return (await leases.update(free, renewed)) === 1;
    });
  }

  /** False when another process has taken it in the meantime. */
  async renew(name: string): Promise<boolean> {
    const expiresAt = new Date(this.clock.now().getTime() + LEASE_MS);
    const own = { name, owner: this.#owner };
    return (
      (await this.#do((manager) => new ScopedTable(manager, LeaseEntity).update(own, { expiresAt }))) === 1
    );
  }

  async release(name: string): Promise<void> {
    await this.#do((manager) => new ScopedTable(manager, LeaseEntity).erase({ name, owner: this.#owner }));
  }
}
