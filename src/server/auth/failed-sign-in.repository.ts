import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RemovesExpired, removeSome } from '../../database/cleanup';
import { LessThan, MoreThan } from 'typeorm';
import { ScopedTable } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { Clock } from '../../time/clock';
import { FailedSignInEntity } from './account.entity';

/** The account whose password is tried, and the client that tries. */
interface SignInAttempt {
  readonly accountHash: string;
  readonly client: string;
}

const MAX_FAILURES = 5;
const LOCK_MS = 10 * 60 * 1000;
/** A lock that began with the last failure may count failures of ten minutes before it. */
const KEPT_MS = 2 * LOCK_MS;

/** Wrong passwords of the last minutes, by account and client: too many of them lock it (lock-out). */
@Injectable()
export class FailedSignInRepository {
  readonly #failures: ScopedTable<FailedSignInEntity>;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#failures = new ScopedTable(unitOfWork.connections(), FailedSignInEntity);
  }

  /** The latest failures, newest first: as many as lock, at most. */
  async findLatest({ accountHash, client }: SignInAttempt): Promise<Date[]> {
    const where = { accountHash, client, failedAt: MoreThan(this.#before(KEPT_MS)) };
    const options = { order: { failedAt: 'DESC' }, limit: MAX_FAILURES } as const;
    const rows = await this.#failures.find(where, options);
    return rows.map(({ failedAt }) => failedAt);
  }

  /** Whether these failures lock: five within ten minutes do, for ten minutes from the fifth. */
  locks(latest: readonly Date[]): boolean {
    const [last, fifth] = [latest[0], latest[MAX_FAILURES - 1]];
    if (last === undefined || fifth === undefined) return false;
    return last > this.#before(LOCK_MS) && last.getTime() - fifth.getTime() < LOCK_MS;
  }

  async add({ accountHash, client }: SignInAttempt): Promise<void> {
    const row = { attemptId: randomUUID(), accountHash, client, failedAt: this.clock.now() };
    await this.unitOfWork.withoutTransaction((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(FailedSignInEntity)
        .values(row)
        .orIgnore()
        .updateEntity(false)
        .execute(),
    );
  }

  async forgive({ accountHash, client }: SignInAttempt): Promise<void> {
    await this.#failures.erase({ accountHash, client });
  }

  /** Removes some of the failures that count no more; gives how many. */
  @RemovesExpired('failed sign-ins')
  removeExpired(): Promise<number> {
    const expired = { failedAt: LessThan(this.#before(KEPT_MS)) };
    return this.unitOfWork.withoutTransaction((manager) =>
      removeSome(manager, FailedSignInEntity, 'attemptId', expired),
    );
  }

  #before(ms: number): Date {
    return new Date(this.clock.now().getTime() - ms);
  }
}
