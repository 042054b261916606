import { createTenantryClient, type components } from '../client/index.js';
import { language } from './words.js';

type Schemas = components['schemas'];
export type Dept = Schemas['TenantryDept'];
export type DeptRow = Schemas['TenantryDeptRow'];
export type DeptNode = Schemas['TenantryDeptNode'];
export type DeptDiff = Schemas['TenantryDeptDiff'];
export type Change = Schemas['TenantryChange'];
export type Me = Schemas['TenantryMe'];
export type Tenant = Schemas['TenantryTenant'];
export type TenantRow = Schemas['TenantryTenantRow'];
export type Entitlement = Schemas['TenantryEntitlement'];

/** Where the service is: a proxy may have put it below a path. */
export const BASE = new URL('.', document.baseURI).href.replace(/\/$/, '');
const STORED = 'tenantry.session';

interface Tokens {
  readonly accessToken: string;
  /** Null where a token or a key was pasted. */
  readonly refreshToken: string | null;
}

/** The answer to a request that the service refused; the message is in the language of the page. */
export class Refused extends Error {
  readonly fields: readonly { readonly field: string; readonly message: string }[];

  constructor(
    readonly status: number,
    envelope: unknown,
    /** In seconds. */
    readonly retryAfter: string | null,
  ) {
    const { msg, data } = (envelope ?? {}) as { msg?: string; data?: Partial<Refused> };
    super(msg ?? `HTTP ${status}`);
    this.fields = data?.fields ?? [];
  }
}

interface Sent<T> {
  readonly data?: { readonly data: T };
  readonly error?: unknown;
  readonly response: Response;
}

export interface Answer<T> {
  readonly data: T;
  readonly tag: string;
  readonly location: string;
}

/** The tokens of this browser tab. */
class Session {
  #tokens = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as Tokens | null;
  #renewal: Promise<void> | null = null;
  /** Is called when the session has ended by itself. */
  onEnd: () => void = () => undefined;

  /** Empty where nobody is signed in. */
  get accessToken(): string {
    return this.#tokens?.accessToken ?? '';
  }

  async signIn(body: { tenantId?: string; username: string; password: string }): Promise<void> {
    this.#keep((await answerOf(client.POST('/auth/login', { body }))).data);
  }

  /** With a token or a key from elsewhere. */
  async usePasted(accessToken: string): Promise<void> {
    this.#keep({ accessToken, refreshToken: null });
    try {
      await answerOf(client.GET('/auth/me'));
    } catch (error) {
      this.#keep(null);
      throw error;
    }
  }

  /** A pasted token lives on. Whatever the service says, here the session is over. */
  async signOut(): Promise<void> {
    if (this.#tokens?.refreshToken != null)
      await ask(() => client.POST('/auth/logout')).catch(() => undefined);
    this.#keep(null);
  }

  /** Once for all requests that wait for it. */
  async renew(reason: Refused): Promise<void> {
    this.#renewal ??= this.#renewed(reason).finally(() => (this.#renewal = null));
    await this.#renewal;
  }

  async #renewed(reason: Refused): Promise<void> {
    const refreshToken = this.#tokens?.refreshToken;
    try {
      if (refreshToken == null) throw reason;
      this.#keep((await answerOf(client.POST('/auth/refresh', { body: { refreshToken } }))).data);
    } catch (error) {
      if (error instanceof Refused && [401, 403].includes(error.status)) {
        this.#keep(null);
        this.onEnd();
      }
      throw error;
    }
  }

  #keep(tokens: Tokens | null): void {
    this.#tokens = tokens && { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken };
    if (tokens) sessionStorage.setItem(STORED, JSON.stringify(this.#tokens));
    else sessionStorage.removeItem(STORED);
  }
}

export const session = new Session();

export const client = createTenantryClient({
  baseUrl: BASE,
  token: () => session.accessToken,
  fetch: (request) => {
    request.headers.set('Accept-Language', language);
    return fetch(request);
  },
});

/** The `data` of an answer. */
export async function ask<T>(send: () => Promise<Sent<T>>): Promise<T> {
  return (await askTagged(send)).data;
}

/** An answer with its tag. What was refused because the token has expired is sent again with a new one. */
export async function askTagged<T>(send: () => Promise<Sent<T>>): Promise<Answer<T>> {
  try {
    return await answerOf(send());
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error;
    await session.renew(error);
    return answerOf(send());
  }
}

async function answerOf<T>(sent: Promise<Sent<T>>): Promise<Answer<T>> {
  const { data, error, response } = await sent;
  const { status, headers } = response;
  if (!data) throw new Refused(status, error, headers.get('retry-after'));
  return { data: data.data, tag: headers.get('etag') ?? '', location: headers.get('location') ?? '' };
}

export interface Page<T> {
  readonly rows: readonly T[];
  readonly nextCursor: string | null;
}

/** All pages of a list, up to so many rows. */
export async function allPages<T>(read: (cursor?: string) => Promise<Page<T>>, most = 20_000): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    rows.push(...page.rows);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && rows.length < most);
  return rows;
}
