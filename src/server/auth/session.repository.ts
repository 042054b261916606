import { Injectable } from '@nestjs/common';
import { In, IsNull, LessThan, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { removeSome } from '../../database/remove-some';
import { UnitOfWork } from '../../database/unit-of-work';
import { isTenantCode } from '../../tenancy/tenant-code';
import { Clock } from '../../time/clock';
import { AccountEntity, SessionEntity } from '../../tenant/account.entity';
import { usernameKey } from '../../tenancy/account-name';
import { SignInErrors } from './auth.errors';

/** What a token's subject is held against. */
export interface AccountFacts {
  readonly username: string;
  readonly status: string;
  readonly roles: string;
  /** Whether the session that the token belongs to is over. */
  readonly ended: boolean;
}

/** Sign-ins, and what of an account decides about them. It is asked before there is a context to look from. */
@Injectable()
export class SessionRepository {
  readonly #unitOfWork: UnitOfWork;
  readonly #onEnd: ((sessionId: string) => void)[] = [];

  constructor(
    unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /** The account of exactly this name, or else the one whose name looks the same. */
  async findAccount(tenantId: string, username: string): Promise<AccountEntity | null> {
    // Both are asked for, even when it cannot be a code: every answer takes the same time.
    const live = { tenantId: isTenantCode(tenantId) ? tenantId : '', nameKey: 0 };
    const find = (named: FindOptionsWhere<AccountEntity>) =>
      this.#do((manager) => manager.findOneBy(AccountEntity, { ...live, ...named }));
    const exact = await find({ username });
    const alike = await find({ usernameKey: usernameKey(username) });
    return exact ?? alike;
  }

  /** Who may sign in: a disabled account is as good as none. */
  async findEnabled(tenantId: string, username: string): Promise<AccountEntity | null> {
    const account = await this.findAccount(tenantId, username);
    return account?.status === '0' ? account : null;
  }

  findAccountById(tenantId: string, userId: number): Promise<AccountEntity | null> {
    return this.#do((manager) => manager.findOneBy(AccountEntity, { tenantId, userId, nameKey: 0 }));
  }

  findFacts(tenantId: string, userId: number, sessionId: string | null): Promise<AccountFacts | null> {
    return this.#do(async (manager) => {
      const select = { userId: true, username: true, status: true, roles: true } as const;
      const account = await manager.findOne(AccountEntity, {
        select,
        where: { tenantId, userId, nameKey: 0 },
      });
      if (!account) return null;
      const live = { sessionId: sessionId ?? '', tenantId, userId, endedAt: IsNull() };
      return {
        ...pick(account),
        ended: sessionId !== null && !(await manager.existsBy(SessionEntity, live)),
      };
    });
  }

  async find(sessionId: string): Promise<SessionEntity | null> {
    if (!/^[0-9a-f-]{36}$/.test(sessionId)) return null;
    return this.#do((manager) => manager.findOneBy(SessionEntity, { sessionId }));
  }

  /**
   * Begins a session, if the account is still as it was when its password was checked. It writes to the account, as every
   * change of the account does: none that began with an old password outlives the change, also between nodes of a cluster.
   */
  begin(account: AccountEntity, session: Omit<SessionEntity, 'endedAt'>): Promise<void> {
    const { tenantId, userId, passwordHash } = account;
    const same = { tenantId, userId, passwordHash, status: '0', nameKey: 0 };
    return this.#unitOfWork.run(
      `sign-in ${userId}`,
      async (manager) => {
        const { affected } = await manager.update(AccountEntity, same, { signIns: () => 'sign_ins + 1' });
        if (affected !== 1) throw SignInErrors.BAD_CREDENTIALS();
      },
      async (manager) => {
        await manager.insert(SessionEntity, { ...session, endedAt: null });
      },
    );
  }

  /**
   * Puts a new refresh token in the place of the old one, if that is still the newest; tells whether it was. Done again
   * because its answer was lost, it finds the new one, which nobody else can have put there.
   */
  async rotate(session: SessionEntity, refreshHash: string, expiresAt: Date): Promise<boolean> {
    const { sessionId, tenantId, refreshHash: old } = session;
    const newest = { sessionId, tenantId, refreshHash: In([old, refreshHash]), endedAt: IsNull() };
    const { affected } = await this.#do((manager) =>
      manager.update(SessionEntity, newest, { refreshHash, expiresAt }),
    );
    return affected === 1;
  }

  /** Ends a session of this tenant; what a token says of another's ends nothing. */
  async end({ sessionId, tenantId }: Pick<SessionEntity, 'sessionId' | 'tenantId'>): Promise<void> {
    const open = { sessionId, tenantId, endedAt: IsNull() };
    await this.#do((manager) => manager.update(SessionEntity, open, { endedAt: this.clock.now() }));
    for (const tell of this.#onEnd) tell(sessionId);
  }

  /** Tells of every session that was ended here, whatever ended it. */
  onEnd(tell: (sessionId: string) => void): void {
    this.#onEnd.push(tell);
  }

  /** Removes some of the sessions whose refresh tokens have run out; gives how many. */
  removeExpired(): Promise<number> {
    const expired = { expiresAt: LessThan(this.clock.now()) };
    return this.#do((manager) => removeSome(manager, SessionEntity, 'sessionId', expired));
  }

  #do<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#unitOfWork.withoutTransaction(work);
  }
}

function pick({ username, status, roles }: AccountEntity): Omit<AccountFacts, 'ended'> {
  return { username, status, roles };
}
