import { Injectable } from '@nestjs/common';
import { RemovesExpired } from '../../database/cleanup';
import { Clock, daysBefore } from '../../time/clock';
import { QuotaRepository } from './quota.repository';

/** How long entries of the ledger are kept. */
export abstract class QuotaKeeping {
  /** 0 keeps all of them. */
  abstract readonly days: number;
}

/** Makes one entry a month of the ledger's oldest ones, marks reservations that have run out, and forgets old ones. */
@Injectable()
export class QuotaCleaner {
  constructor(
    private readonly quotas: QuotaRepository,
    private readonly keeping: QuotaKeeping,
    private readonly clock: Clock,
  ) {}

  @RemovesExpired('quota entries')
  async foldEntries(): Promise<number> {
    const before = this.#expired;
    if (!before) return 0;
    return this.quotas.fold(await this.quotas.findOldEntries(before), before);
  }

  @RemovesExpired('quota reservations')
  async endReservations(): Promise<number> {
    // Each transaction on a quota begins with marking what has run out.
    const ranOut = await this.quotas.findRanOut(['active'], this.clock.now());
    await this.quotas.cleaning(ranOut, () => Promise.resolve(0));
    const before = this.#expired;
    if (!before) return 0;
    const ended = await this.quotas.findRanOut(['committed', 'released', 'expired'], before);
    return this.quotas.cleaning(ended, (quota) => quota.forgetReservations(before));
  }

  /** Null when all are kept. */
  get #expired(): Date | null {
    return this.keeping.days === 0 ? null : daysBefore(this.clock.now(), this.keeping.days);
  }
}
