import { Injectable } from '@nestjs/common';
import { KeyedMutex } from '../../database/keyed-mutex';
import { type AccountEntity, accountHash } from '../../tenant/account.entity';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { PasswordHasher } from './password-hasher';

/** A password that somebody sends for an account, and from where. */
export interface Proof {
  readonly tenantId: string;
  readonly username: string;
  readonly password: string;
  /** An IPv4 address or an IPv6 network. */
  readonly client: string;
}

/** Checks passwords, and counts wrong ones by account and client. */
@Injectable()
export class Passwords {
  readonly #queues = new KeyedMutex();

  constructor(
    private readonly hasher: PasswordHasher,
    private readonly failures: FailedSignInRepository,
  ) {}

  hash(password: string): Promise<string> {
    return this.hasher.hash(password);
  }

  /**
   * The account, when this is its password and it is not locked for this client. Tries of one client for one name take
   * turns, whether the name exists or not: many at once count one by one, and right ones never count. A try that was not
   * checked does not count either. Whatever is wrong costs the same statements.
   */
  check(
    { tenantId, username, password, client }: Proof,
    find: () => Promise<AccountEntity | null>,
  ): Promise<AccountEntity | null> {
    const attempt = { accountHash: accountHash(tenantId, username), client };
    return this.#queues.run(`${attempt.accountHash} ${client}`, async () => {
      const latest = await this.failures.findLatest(attempt);
      const account = await find();
      const right = await this.hasher.verify(account?.passwordHash ?? null, password);
      if (this.failures.locks(latest)) return null;
      if (!right) await this.failures.add(attempt);
      else if (latest.length > 0) await this.failures.forgive(attempt);
      return right ? account : null;
    });
  }
}
