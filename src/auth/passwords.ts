import { Injectable } from '@nestjs/common';
import { KeyedGate } from '../database/keyed-gate';
import { Clock } from '../time/clock';
import type { AccountEntity } from '../user/account.entity';
import { PasswordHasher } from './password-hasher';
import { SessionRepository } from './session.repository';

/** Checks passwords, and counts wrong ones against the account. */
@Injectable()
export class Passwords {
  readonly #queues = new KeyedGate();

  constructor(
    private readonly hasher: PasswordHasher,
    private readonly sessions: SessionRepository,
    private readonly clock: Clock,
  ) {}

  hash(password: string): Promise<string> {
    return this.hasher.hash(password);
  }

  /**
   * The account, when this is its password and it is not locked. Tries for one name take turns, whether it exists or
   * not: many at once count one by one, and right ones never count. A try that was not checked does not count either.
   */
  check(
    name: string,
    find: () => Promise<AccountEntity | null>,
    password: string,
  ): Promise<AccountEntity | null> {
    return this.#queues.run(name, async () => {
      const account = await find();
      const right = await this.hasher.verify(account?.passwordHash ?? null, password);
      if (!account || (account.lockedUntil && account.lockedUntil > this.clock.now())) return null;
      if (!right) await this.sessions.countFailure(account);
      else if (account.failedLogins > 0 || account.lockedUntil) await this.sessions.clearFailures(account);
      return right ? account : null;
    });
  }
}
