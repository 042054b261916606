import { Inject, Injectable } from '@nestjs/common';
import { RemovesExpired, removeSome } from '../../database/cleanup';
import { Equal, In, IsNull, LessThan, Or, type FindOptionsWhere } from 'typeorm';
import { ScopedTable } from '../../database/scoped-table';
import { UnitOfWork } from '../../database/unit-of-work';
import { usernameKey } from '../../tenancy/account-name';
import { isTenantCode } from '../../tenancy/tenant-code';
import { AccountEntity, SessionEntity } from './account.entity';
import { Clock } from '../../time/clock';
import { ENV, type Env } from '../config/env';
import { SignInErrors } from './auth.errors';

const FACTS = [
  'username',
  'status',
  'deptId',
  'roles',
  'managedDeptIds',
  'dataScope',
  'scopeDeptIds',
] as const;

/** What a token's subject is checked against. */
export interface AccountFacts extends Pick<AccountEntity, (typeof FACTS)[number]> {
  /** Whether the session that the token belongs to is over. */
  readonly ended: boolean;
}

/** What a refresh changes of a session. */
export type Renewal = Pick<SessionEntity, 'refreshHash' | 'expiresAt' | 'scope'>;

/** A session that begins. */
export type NewSession = Pick<SessionEntity, 'sessionId' | 'tenantId' | 'userId' | 'createdAt'> & Renewal;

export const REFRESH_MS = 7 * 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const SESSION_ID = /^[0-9a-f-]{36}$/;

/** Sessions and their accounts. Used before there is a context, so the tenant is an argument. */
@Injectable()
export class SessionRepository {
  readonly #accounts: ScopedTable<AccountEntity>;
  readonly #sessions: ScopedTable<SessionEntity>;
  #announceEnd: (userId: number) => void = () => undefined;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(ENV) private readonly env: Env,
  ) {
    this.#accounts = new ScopedTable(unitOfWork.connections(), AccountEntity);
    this.#sessions = new ScopedTable(unitOfWork.connections(), SessionEntity);
  }

  /** The account of exactly this name, or else the one whose name looks the same. */
  async findAccount(tenantId: string, username: string): Promise<AccountEntity | null> {
    // Always two statements, even for what cannot be a code: every answer takes the same time.
    const live = { tenantId: isTenantCode(tenantId) ? tenantId : '', nameKey: 0 };
    const find = (named: FindOptionsWhere<AccountEntity>) => this.#accounts.findOne({ ...live, ...named });
    const exact = await find({ username });
    const alike = await find({ usernameKey: usernameKey(username) });
    return exact ?? alike;
  }

  findAccountById(tenantId: string, userId: number): Promise<AccountEntity | null> {
    return this.#accounts.findOne({ tenantId, userId, nameKey: 0 });
  }

  async findFacts(tenantId: string, userId: number, sessionId: string | null): Promise<AccountFacts | null> {
    const [account] = await this.#accounts.pick({ tenantId, userId, nameKey: 0 }, FACTS);
    if (!account) return null;
    const open = { sessionId: sessionId ?? '', tenantId, userId, endedAt: IsNull() };
    const ended = sessionId !== null && !(await this.#sessions.exists(open));
    return { ...account, ended };
  }

  /** A session, also one that is over; as long as it is kept. */
  async find(sessionId: string): Promise<SessionEntity | null> {
    if (!SESSION_ID.test(sessionId)) return null;
    return this.#sessions.findOne({ sessionId });
  }

  hasExpired({ expiresAt }: Pick<SessionEntity, 'expiresAt'>): boolean {
    return expiresAt <= this.clock.now();
  }

  /**
   * Begins a session, if the account is still as it was when its password was checked. It writes to the account too, so
   * that it conflicts with a change of the password, also between nodes of a cluster.
   */
  begin(account: AccountEntity, session: NewSession, client: string): Promise<void> {
    const { tenantId, userId, passwordHash } = account;
    const same = { tenantId, userId, passwordHash, status: '0', nameKey: 0 };
    return this.unitOfWork.run(
      `sign-in ${userId}`,
      async ({ manager }) => {
        const signedIn = { signIns: () => 'sign_ins + 1' };
        const accounts = new ScopedTable(manager, AccountEntity);
        if ((await accounts.update(same, signedIn)) !== 1) throw SignInErrors.BAD_CREDENTIALS();
      },
      async ({ manager }) => {
        const row = { ...session, client: this.#kept(client), endedAt: null };
        await new ScopedTable(manager, SessionEntity).insert(row);
      },
    );
  }

  /**
   * Replaces the refresh token, and with it what the session is limited to, if the old one is still the newest; tells whether it was. A retry after a lost answer finds
   * the new one, which nothing else can have stored.
   */
  async rotate(session: SessionEntity, renewal: Renewal, client: string): Promise<boolean> {
    const { sessionId, tenantId, refreshHash: old } = session;
    const newest = { sessionId, tenantId, refreshHash: In([old, renewal.refreshHash]), endedAt: IsNull() };
    const refreshed = { refreshedAt: this.clock.now(), refreshedClient: this.#kept(client) };
    return (await this.#sessions.update(newest, { ...renewal, ...refreshed })) === 1;
  }

  /**
   * Ends a session of this account, or all of them; what a token says of another's ends nothing. Tells whether any was not ended
   * before. A retry after a lost answer finds those that it has ended.
   */
  async end(
    session: Pick<SessionEntity, 'tenantId' | 'userId'> & { readonly sessionId?: string | undefined },
  ): Promise<boolean> {
    const { sessionId, tenantId, userId } = session;
    if (sessionId !== undefined && !SESSION_ID.test(sessionId)) return false;
    const endedAt = this.clock.now();
    const open = { tenantId, userId, endedAt: Or(IsNull(), Equal(endedAt)) };
    const meant = sessionId === undefined ? open : { sessionId, ...open };
    const ended = await this.#sessions.update(meant, { endedAt });
    this.#announceEnd(userId);
    return ended > 0;
  }

  /** Is called with the account of every session that was ended here. */
  onEnd(announce: (userId: number) => void): void {
    this.#announceEnd = announce;
  }

  /**
   * Removes some of the sessions that began, or were last refreshed, before the days for which sign-ins are kept; gives how many. None
   * is removed whose refresh token is still good.
   */
  @RemovesExpired('sessions')
  removeExpired(): Promise<number> {
    const keptMs = Math.max(this.env.SIGN_IN_KEEP_DAYS * DAY_MS - REFRESH_MS, 0);
    const expired = { expiresAt: LessThan(new Date(this.clock.now().getTime() - keptMs)) };
    return this.unitOfWork.withoutTransaction((manager) =>
      removeSome(manager, SessionEntity, 'sessionId', expired),
    );
  }

  #kept(client: string): string | null {
    return this.env.SIGN_IN_KEEP_DAYS === 0 ? null : client;
  }
}
