import { Injectable } from '@nestjs/common';
import { HourlyCleaner } from '../../database/hourly-cleaner';
import { Meter } from '../../database/meter';
import { Clock, daysBefore } from '../../time/clock';
import type { QuotaName } from './locked-quota';
import { QuotaRepository } from './quota.repository';

/** How long entries of the ledger are kept. */
export abstract class QuotaKeeping {
  /** 0 keeps all of them. */
  abstract readonly days: number;
}

/** Makes one entry a month of the ledger's oldest ones, marks reservations that have run out, and forgets old ones. */
@Injectable()
export class QuotaCleaner extends HourlyCleaner {
  constructor(quotas: QuotaRepository, { days }: QuotaKeeping, clock: Clock, meter: Meter) {
    const expired = (): Date => daysBefore(clock.now(), days);

    const inEach = async (
      names: readonly QuotaName[],
      work: (name: QuotaName) => Promise<number>,
    ): Promise<number> => {
      let sum = 0;
      for (const name of names) sum += await work(name);
      return sum;
    };
    const fold = async (): Promise<number> => {
      if (days === 0) return 0;
      const before = expired();
      return inEach(await quotas.findOldEntries(before), (name) => quotas.fold(name, before));
    };
    const forget = async (): Promise<number> => {
      if (days === 0) return 0;
      const before = expired();
      const names = (['committed', 'released', 'expired'] as const).map((state) =>
        quotas.findRanOut(state, before),
      );
      return inEach((await Promise.all(names)).flat(), (name) =>
        quotas.cleaning(name, (quota) => quota.forgetReservations(before)),
      );
    };
    /** Each transaction on a quota begins with it. */
    const markRanOut = async (): Promise<number> => {
      const names = await quotas.findRanOut('active', clock.now());
      return inEach(names, (name) => quotas.cleaning(name, () => Promise.resolve(0)));
    };
    super(meter, {
      'quota entries': { removeExpired: fold },
      'quota reservations': { removeExpired: async () => (await markRanOut()) + (await forget()) },
    });
  }
}
