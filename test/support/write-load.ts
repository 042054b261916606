import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, mintToken, type Answer, type ApiClient } from '../../src/server/testing';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import type { Chance } from './chance';
import { aTenantRow } from './seeds';

const DEPTS = '/system/dept-api';
const TENANTS = 3;
const WRITERS_PER_TENANT = 2;
const ACCOUNT_LIMIT = 12;
const GIVE_UP_MS = 30_000;
const PAUSE_MS = 40;
/** What a client sees of a server that has gone. */
const BROKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

interface Place {
  readonly label: string;
  readonly tenantId: string;
  readonly api: () => ApiClient;
  readonly root: () => ApiClient;
  /** Departments that all writers of the tenant move about. */
  readonly shared: readonly number[];
}

/** A department as its writer left it. */
interface Kept {
  name: string;
  parentId: number;
}

/**
 * A client that writes one thing after the other and knows what must be there. It repeats a request that broke off or was
 * refused with 503, with the same key, until there is an answer. Its departments are its own; it shares its tenant.
 */
class Writer {
  readonly live = new Map<number, Kept>();
  readonly gone = new Set<number>();
  /** Names of what is known by its name only. */
  readonly imported: string[] = [];
  readonly tenants: string[] = [];
  readonly users: string[] = [];
  /** Made without a key and not answered: there once, or not at all. */
  readonly unsure: string[] = [];
  readonly acknowledgedAt: number[] = [];
  retried = 0;
  #number = 0;

  constructor(
    readonly place: Place,
    private readonly chance: Chance,
    private readonly withoutKeys: boolean,
  ) {}

  /** One write, until it is answered. */
  async step(): Promise<void> {
    const draw = this.chance.below(100);
    if (this.live.size < 3 || draw < 40) await this.#create();
    else if (draw < 60) await this.#move();
    else if (draw < 75) await (this.place.shared.length > 0 ? this.#moveShared() : this.#rename());
    else if (draw < 86) await this.#remove();
    else if (draw < 92) await this.#import();
    else if (draw < 95) await this.#addTenant();
    else if (draw < 97) await this.#addUser();
    else if (this.withoutKeys) await this.#createWithoutKey();
    else await this.#rename();
    this.acknowledgedAt.push(performance.now());
  }

  async #create(): Promise<void> {
    const kept = { name: this.#fresh('dept'), parentId: this.#someParent() };
    const body = { deptName: kept.name, parentId: kept.parentId };
    const { answer } = await this.#send((api) => api.post(DEPTS, body, keyOf(kept.name)));
    this.#keep(answer, kept);
  }

  /** As most clients do it: they try once, and without an answer they do not know. */
  async #createWithoutKey(): Promise<void> {
    const kept = { name: this.#fresh('once'), parentId: 0 };
    const sent = this.place.api().post(DEPTS, { deptName: kept.name });
    const answer = await sent.catch((error: unknown) => {
      if (!isBroken(error)) throw error;
    });
    if (answer?.status === 200) this.#keep(answer, kept);
    else this.unsure.push(kept.name);
  }

  async #move(): Promise<void> {
    const [deptId, kept] = this.chance.pick([...this.live]);
    const parentId = this.#someParent();
    if (this.#isBelow(parentId, deptId)) return;
    const { answer } = await this.#send((api) => api.put(DEPTS, { deptId, parentId, deptName: kept.name }));
    expectDone(answer);
    kept.parentId = parentId;
  }

  /** Below another one that may be moved below this one at the same moment. */
  async #moveShared(): Promise<void> {
    const [one, other] = [this.chance.pick(this.place.shared), this.chance.pick(this.place.shared)];
    const parentId = one === other ? 0 : other;
    const { answer } = await this.#send((api) => api.patch(`${DEPTS}/${one}`, { parentId }));
    if (answer.status !== 409 || answer.refusal.reason !== 'DEPT_CYCLE') expectDone(answer);
  }

  async #rename(): Promise<void> {
    const [deptId, kept] = this.chance.pick([...this.live]);
    const deptName = this.#fresh('name');
    const { answer } = await this.#send((api) => api.patch(`${DEPTS}/${deptId}`, { deptName }));
    expectDone(answer);
    kept.name = deptName;
  }

  async #remove(): Promise<void> {
    const parents = new Set([...this.live.values()].map(({ parentId }) => parentId));
    const ids = [...this.live.keys()].filter((id) => !parents.has(id)).slice(0, 1 + this.chance.below(3));
    const { answer, again } = await this.#send((api) => api.delete(`${DEPTS}/${ids.join(',')}`));
    // A delete whose answer was lost finds nothing the second time.
    if (!(again && answer.status === 404)) expectDone(answer);
    for (const id of ids) {
      this.live.delete(id);
      this.gone.add(id);
    }
  }

  async #import(): Promise<void> {
    const names = [this.#fresh('file'), this.#fresh('file')];
    const file = [{ path: names[0] }, { path: names.join('/') }]
      .map((line) => JSON.stringify(line))
      .join('\n');
    const headers = { 'content-type': 'application/x-ndjson', ...keyOf(names.join()) };
    expectDone((await this.#send((api) => api.post(`${DEPTS}/import`, file, headers))).answer);
    this.imported.push(...names);
  }

  async #addTenant(): Promise<void> {
    const tenantName = this.#fresh('tenant');
    const post = () => this.place.root().post('/system/tenant-api', { tenantName }, keyOf(tenantName));
    expectDone((await this.#send(post)).answer);
    this.tenants.push(tenantName);
  }

  async #addUser(): Promise<void> {
    const username = this.#fresh('user');
    const body = { username, password: 'a-long-password' };
    const { answer } = await this.#send((api) => api.post('/system/user-api', body, keyOf(username)));
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

  /** Sends it until there is an answer other than 503 and 429; `again`: it was sent more than once. */
  async #send(send: (api: ApiClient) => Promise<Answer>): Promise<{ answer: Answer; again: boolean }> {
    const giveUp = Date.now() + GIVE_UP_MS;
    for (let again = false; ; again = true) {
      try {
        const answer = await send(this.place.api());
        if (answer.status !== 503 && answer.status !== 429) return { answer, again };
      } catch (error) {
        if (!isBroken(error)) throw error;
      }
      if (Date.now() > giveUp) throw new Error(`No answer for ${GIVE_UP_MS} ms.`);
      this.retried += 1;
      await sleep(PAUSE_MS);
    }
  }

  #isBelow(deptId: number, above: number): boolean {
    for (let at = deptId; at !== 0; at = this.live.get(at)?.parentId ?? 0) if (at === above) return true;
    return false;
  }

  /** Not far down, so that trees stay within their depth. */
  #someParent(): number {
    const tops = [...this.live].filter(([, { parentId }]) => parentId === 0).map(([id]) => id);
    const parent = this.live.size > 0 && this.chance.below(2) ? this.chance.pick([...this.live.keys()]) : 0;
    let levels = 0;
    for (let at = parent; at !== 0; at = this.live.get(at)?.parentId ?? 0) levels += 1;
    return levels < 8 ? parent : this.chance.pick(tops);
  }

  #fresh(what: string): string {
    return `${this.place.label}-${what}-${(this.#number += 1)}`;
  }
}

/** Several writers at once, and what the database must hold when they rest. */
export class WriteLoad {
  /** Whether a writer met an unexpected answer; `rest` throws it. */
  hasFailed = false;
  #resting = true;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(private readonly writers: readonly Writer[]) {}

  /** Writers take turns with the clients. `dataSource` makes their tenants, past the service. */
  static async on(
    clients: readonly (() => ApiClient)[],
    dataSource: DataSource,
    chance: Chance,
    { withoutKeys = false, shared = 0 } = {},
  ): Promise<WriteLoad> {
    const writers: Writer[] = [];
    for (let n = 0; n < TENANTS; n += 1) {
      const tenantId = await aTenantRow(dataSource, { accountCount: ACCOUNT_LIMIT });
      const depts: number[] = [];
      const admin = clients[0]!().as(mintToken({ tenantId }));
      while (depts.length < shared) depts.push(await aDept(admin, { deptName: 'shared' }));
      for (let w = 0; w < WRITERS_PER_TENANT; w += 1) {
        const client = clients[writers.length % clients.length]!;
        const api = () => client().as(mintToken({ tenantId }));
        const root = () => client().as(mintToken({ roles: ['superadmin'] }));
        const place = { label: `t${n}w${w}`, tenantId, api, root, shared: depts };
        writers.push(new Writer(place, chance.fork(), withoutKeys));
      }
    }
    return new WriteLoad(writers);
  }

  get tenantIds(): string[] {
    return [...new Set(this.writers.map(({ place }) => place.tenantId))];
  }

  get acknowledgedAt(): number[] {
    return this.writers.flatMap(({ acknowledgedAt }) => acknowledgedAt);
  }

  get acknowledged(): number {
    return this.acknowledgedAt.length;
  }

  get retried(): number {
    return this.writers.reduce((sum, { retried }) => sum + retried, 0);
  }

  /** Departments that were acknowledged, also those that were deleted later. */
  get deptIds(): number[] {
    return this.writers.flatMap(({ live, gone }) => [...live.keys(), ...gone]);
  }

  begin(): void {
    this.#resting = false;
    const write = async (writer: Writer) => {
      while (!this.#resting) await writer.step();
    };
    this.#running = Promise.all(this.writers.map(write));
    // `rest` throws it; until then it must not end the process.
    this.#running.catch(() => (this.hasFailed = true));
  }

  async untilMore(count: number): Promise<void> {
    const enough = this.acknowledged + count;
    while (this.acknowledged < enough && !this.hasFailed) await sleep(10);
  }

  /** Lets every writer finish its write. */
  async rest(): Promise<void> {
    this.#resting = true;
    await this.#running;
  }

  /** Everything that was acknowledged and is missing or other, and everything that is there and was not acknowledged. */
  async problems(dataSource: DataSource): Promise<string[]> {
    const problems: string[] = [];
    for (const tenantId of this.tenantIds) {
      const own = this.writers.filter(({ place }) => place.tenantId === tenantId);
      problems.push(...(await problemsOf(dataSource, tenantId, own)));
    }
    const tenants = await dataSource.manager.find(TenantryTenant, { select: { id: true, tenantName: true } });
    const found = tenants.map(({ tenantName }) => tenantName).filter((name) => /^t\dw\d-/.test(name));
    const made = this.writers.flatMap((writer) => writer.tenants);
    return [...problems, ...differences('tenant', found, made)];
  }

  /** Names of departments that are there although their client was refused. */
  async untold(dataSource: DataSource): Promise<string[]> {
    const rows = await dataSource.manager.find(TenantryDept, { select: { deptId: true, deptName: true } });
    const names = new Set(rows.map(({ deptName }) => deptName));
    return this.writers.flatMap(({ unsure }) => unsure.filter((name) => names.has(name)));
  }
}

async function problemsOf(
  { manager }: DataSource,
  tenantId: string,
  writers: readonly Writer[],
): Promise<string[]> {
  const rows = new Map((await manager.findBy(TenantryDept, { tenantId })).map((row) => [row.deptId, row]));
  const problems: string[] = [];
  for (const { live, gone, place } of writers) {
    for (const [deptId, { name, parentId }] of live) {
      const row = rows.get(deptId);
      const found = row && `${row.delFlag} ${row.deptName} ${row.parentId}`;
      if (found !== `0 ${name} ${parentId}`) problems.push(`department ${deptId} ${name}: is ${found}`);
    }
    for (const deptId of gone) {
      if (rows.get(deptId)?.delFlag !== '2') problems.push(`department ${deptId}: should be deleted`);
    }
    for (const deptId of [...live.keys(), ...gone, ...place.shared]) rows.delete(deptId);
  }
  const unsure = new Set(writers.flatMap((writer) => writer.unsure));
  const rest = [...rows.values()].map(({ deptName }) => deptName);
  const untold = rest.filter((name) => unsure.has(name));
  const told = rest.filter((name) => !unsure.has(name));
  const accounts = (await manager.findBy(AccountEntity, { tenantId })).map(({ username }) => username);
  const [imported, users] = [writers.flatMap((each) => each.imported), writers.flatMap((each) => each.users)];
  return [
    ...problems,
    ...differences('department', untold, [...new Set(untold)]),
    ...differences('department', told, imported),
    ...differences('account', accounts, users),
  ];
}

function differences(what: string, found: readonly string[], expected: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of found) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const name of expected) counts.set(name, (counts.get(name) ?? 0) - 1);
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${what} ${name}: ${count > 0 ? `${count} too many` : 'is missing'}`);
}

function keyOf(key: string): Record<string, string> {
  return { 'idempotency-key': key };
}

function expectDone({ status, text }: Answer): void {
  if (status !== 200) throw new Error(`Refused with ${status}: ${text}`);
}

function isBroken(error: unknown): boolean {
  return BROKEN.has((error as NodeJS.ErrnoException).code ?? '');
}
