import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ApiClient } from '../../src/server/testing';
import type { Chance } from './chance';

const DEPTS = '/system/dept-api';
const PATIENCE_MS = 30_000;
const PAUSE_MS = 40;
/** What a client sees of a server that is not there, or no more. */
const BROKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** A department as its writer left it. */
export interface Kept {
  name: string;
  parentId: number;
}

/** Who writes, and as whom. */
export interface WriterPlace {
  readonly label: string;
  readonly tenantId: string;
  /** An administrator of the tenant, and of the platform, with tokens that are good now. */
  readonly api: () => ApiClient;
  readonly root: () => ApiClient;
}

/**
 * A client that writes one thing after the other and knows what must be there: what broke or was put off it sends again
 * until it is answered, with the same key. Its departments are its own; its tenant it shares.
 */
export class Writer {
  readonly live = new Map<number, Kept>();
  readonly gone = new Set<number>();
  /** Names of what is known by its name only. */
  readonly imported: string[] = [];
  readonly tenants: string[] = [];
  readonly users: string[] = [];
  /** Made without a key and not answered: there once, or not at all. */
  readonly unsure: string[] = [];
  acknowledged = 0;
  retried = 0;
  #number = 0;

  constructor(
    readonly place: WriterPlace,
    private readonly random: Chance,
    private readonly withoutKeys: boolean,
  ) {}

  /** One write, until it is answered. */
  async step(): Promise<void> {
    const draw = this.random.below(100);
    if (this.live.size < 3 || draw < 40) await this.#create();
    else if (draw < 60) await this.#move();
    else if (draw < 75) await this.#rename();
    else if (draw < 86) await this.#remove();
    else if (draw < 92) await this.#import();
    else if (draw < 95) await this.#addTenant();
    else if (draw < 97) await this.#addUser();
    else if (this.withoutKeys) await this.#createWithoutKey();
    else await this.#create();
    this.acknowledged += 1;
  }

  async #create(): Promise<void> {
    const kept = { name: this.#fresh('dept'), parentId: this.#someParent() };
    const key = { 'idempotency-key': kept.name };
    const body = { deptName: kept.name, parentId: kept.parentId };
    const { answer } = await this.#answered(() => this.place.api().post(DEPTS, body, key));
    this.#keep(answer, kept);
  }

  /** As most clients do it: one try, and who gets no answer does not know. */
  async #createWithoutKey(): Promise<void> {
    const kept = { name: this.#fresh('once'), parentId: 0 };
    const answer = await this.place
      .api()
      .post(DEPTS, { deptName: kept.name })
      .catch((error: unknown) => {
        if (!isBroken(error)) throw error;
      });
    if (answer?.status === 200) this.#keep(answer, kept);
    else this.unsure.push(kept.name);
  }

  async #move(): Promise<void> {
    const [deptId, kept] = this.#some();
    const parentId = this.#someParent();
    if (this.#stands(parentId, deptId)) return;
    const body = { deptId, parentId, deptName: kept.name };
    const { answer } = await this.#answered(() => this.place.api().put(DEPTS, body));
    expectDone(answer);
    kept.parentId = parentId;
  }

  async #rename(): Promise<void> {
    const [deptId, kept] = this.#some();
    const deptName = this.#fresh('name');
    const { answer } = await this.#answered(() => this.place.api().patch(`${DEPTS}/${deptId}`, { deptName }));
    expectDone(answer);
    kept.name = deptName;
  }

  async #remove(): Promise<void> {
    const parents = new Set([...this.live.values()].map(({ parentId }) => parentId));
    const ids = [...this.live.keys()].filter((id) => !parents.has(id)).slice(0, 1 + this.random.below(3));
    const { answer, again } = await this.#answered(() =>
      this.place.api().delete(`${DEPTS}/${ids.join(',')}`),
    );
    // A delete whose answer was lost finds nothing the second time.
    if (!(again && answer.status === 404)) expectDone(answer);
    for (const id of ids) {
      this.live.delete(id);
      this.gone.add(id);
    }
  }

  async #import(): Promise<void> {
    const names = [this.#fresh('file'), this.#fresh('file')];
    const lines = [{ path: names[0] }, { path: names.join('/') }].map((line) => JSON.stringify(line));
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': names.join() };
    const { answer } = await this.#answered(() =>
      this.place.api().post(`${DEPTS}/import`, lines.join('\n'), headers),
    );
    expectDone(answer);
    this.imported.push(...names);
  }

  async #addTenant(): Promise<void> {
    const tenantName = this.#fresh('tenant');
    const key = { 'idempotency-key': tenantName };
    const { answer } = await this.#answered(() =>
      this.place.root().post('/system/tenant-api', { tenantName }, key),
    );
    expectDone(answer);
    this.tenants.push(tenantName);
  }

  async #addUser(): Promise<void> {
    const username = this.#fresh('user');
    const body = { username, password: 'a-long-password' };
    const key = { 'idempotency-key': username };
    const { answer } = await this.#answered(() => this.place.api().post('/system/user-api', body, key));
    if (answer.status === 409 && answer.refusal.reason === 'ACCOUNT_LIMIT') return;
    expectDone(answer);
    this.users.push(username);
  }

  #keep(answer: Answer, kept: Kept): void {
    expectDone(answer);
    const deptId = Number(answer.headers.location?.split('/').at(-1));
    if (this.live.has(deptId) || this.gone.has(deptId)) throw new Error(`${deptId} was given twice.`);
    this.live.set(deptId, kept);
  }

  /** Sends it until somebody answers, and not that it should come again; `again`: it was sent more than once. */
  async #answered(send: () => Promise<Answer>): Promise<{ answer: Answer; again: boolean }> {
    const giveUp = Date.now() + PATIENCE_MS;
    for (let again = false; ; again = true) {
      try {
        const answer = await send();
        if (answer.status !== 503 && answer.status !== 429) return { answer, again };
      } catch (error) {
        if (!isBroken(error)) throw error;
      }
      if (Date.now() > giveUp) throw new Error(`Nobody has answered for ${PATIENCE_MS} ms.`);
      this.retried += 1;
      await sleep(PAUSE_MS);
    }
  }

  /** Whether a department stands at or below another. */
  #stands(deptId: number, above: number): boolean {
    for (let at = deptId; at !== 0; at = this.live.get(at)?.parentId ?? 0) if (at === above) return true;
    return false;
  }

  #some(): [number, Kept] {
    if (this.live.size === 0) throw new Error('There is no department yet.');
    return this.random.pick([...this.live]);
  }

  /** Not far down, so that trees stay within their depth. */
  #someParent(): number {
    const tops = [...this.live].filter(([, { parentId }]) => parentId === 0).map(([id]) => id);
    const parent = this.live.size > 0 && this.random.below(2) ? this.random.pick([...this.live.keys()]) : 0;
    let levels = 0;
    for (let at = parent; at !== 0; at = this.live.get(at)?.parentId ?? 0) levels += 1;
    return levels < 8 ? parent : this.random.pick(tops);
  }

  #fresh(what: string): string {
    return `${this.place.label}-${what}-${(this.#number += 1)}`;
  }
}

function expectDone({ status, text }: Answer): void {
  if (status !== 200) throw new Error(`Refused with ${status}: ${text}`);
}

export function isBroken(error: unknown): boolean {
  return BROKEN.has((error as NodeJS.ErrnoException).code ?? '');
}
