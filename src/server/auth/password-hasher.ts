import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { FairQueue } from '../../concurrency/fair-queue';
import { KeyedMutex } from '../../concurrency/mutex';
import { type AccountEntity, accountHash } from './account.entity';
import { SignInErrors } from './auth.errors';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { partOf } from '../workers/shared-limits';

/** argon2id (the library's default variant) with 19 MiB, two passes, one lane: about 34 ms of a core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const LIMITS = { inWork: 4, waiting: 50 };

/** Hashes and checks passwords, a few at a time: a flood of logins must not take the machine. */
export class PasswordHasher {
  readonly #queue: FairQueue;
  readonly #decoy = hash('nobody has this password', COST);

  /** The workers of a service share what it may check at once. */
  constructor(workers = 1) {
    const [inWork, waiting] = [partOf(LIMITS.inWork, workers), partOf(LIMITS.waiting, workers)];
    this.#queue = new FairQueue({ inWork, waiting, share: 1 });
  }

  get counts(): FairQueue['counts'] {
    return this.#queue.counts;
  }

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hash(password, COST));
  }

  /** Without a hash it takes the same time, and says no. */
  async verify(passwordHash: string | null, password: string): Promise<boolean> {
    const matches = await this.#inTurn(async () => verify(passwordHash ?? (await this.#decoy), password));
    return matches && passwordHash !== null;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run('', work, SignInErrors.BUSY);
  }
}

/** A password that a client sends for an account. */
export interface PasswordAttempt {
  readonly tenantId: string;
  readonly username: string;
  readonly password: string;
  /** An IPv4 address or an IPv6 network. */
  readonly client: string;
}

/** What became of a password: the account that was found, whether or not it may sign in, and why it may not. */
export interface CheckedPassword {
  readonly account: AccountEntity | null;
  readonly refused: 'unknown_user' | 'disabled' | 'locked' | 'wrong_password' | null;
}

/** Checks passwords, and counts wrong ones by account and client. */
@Injectable()
export class Passwords {
  readonly #attempts = new KeyedMutex();

  constructor(
    private readonly hasher: PasswordHasher,
    private readonly failures: FailedSignInRepository,
  ) {}

  hash(password: string): Promise<string> {
    return this.hasher.hash(password);
  }

  /**
   * Whether this is the password of the account, and it is not locked for this client. Attempts of one client for one name take
   * turns, so that many at once count one by one, and right ones never count. One that is refused before the check
   * does not count either. Every outcome costs the same time and statements, whether the name exists or not.
   */
  check(
    { tenantId, username, password, client }: PasswordAttempt,
    find: () => Promise<AccountEntity | null>,
  ): Promise<CheckedPassword> {
    const attempt = { accountHash: accountHash(tenantId, username), client };
    return this.#attempts.runExclusive(`${attempt.accountHash} ${client}`, async () => {
      const latest = await this.failures.findLatest(attempt);
      const account = await find();
      const isEnabled = account?.status === '0';
      const isRight = await this.hasher.verify(isEnabled ? account.passwordHash : null, password);
      const isLocked = this.failures.locks(latest);
      if (!isLocked) {
        if (!isRight) await this.failures.add(attempt, account, isEnabled ? 'wrong_password' : 'disabled');
        else if (latest.length > 0) await this.failures.forgive(attempt);
      }
      if (!account) return { account, refused: 'unknown_user' };
      if (!isEnabled) return { account, refused: 'disabled' };
      if (isLocked) return { account, refused: 'locked' };
      return { account, refused: isRight ? null : 'wrong_password' };
    });
  }
}
