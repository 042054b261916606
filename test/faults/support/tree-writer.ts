import { randomUUID } from 'node:crypto';
import type { Chance } from '../../support/chance';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { DeptEntity } from '../../../src/dept/dept.entity';
import type { Answer, ApiClient } from '../../../src/server/testing';

const PATH = '/system/dept-api';
/** A client that waited this long asks again. */
const REQUEST_MS = 15_000;

/** What the service said of one department that only this writer touches. */
interface Known {
  readonly name: string;
  readonly tenantId: string;
  parentId: number;
  deleted: boolean;
}

/** When somebody's write was acknowledged, for all writers together. */
export interface Acknowledged {
  readonly at: number[];
  /** Requests that had to be sent again. */
  retries: number;
  /** Rules that refused: a cycle, children. */
  refused: number;
}

/** A shared department that all writers move about; they race for it. */
export interface Arena {
  readonly tenantId: string;
  readonly api: ApiClient;
  readonly shared: readonly number[];
}

/** Creates, moves and deletes departments as an impatient client does: sends everything again until it is told how it ended. */
export class TreeWriter {
  readonly known = new Map<number, Known>();
  #count = 0;

  constructor(
    private readonly name: string,
    private readonly arenas: readonly Arena[],
    private readonly random: Chance,
    private readonly log: Acknowledged,
  ) {}

  async writeUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const arena = this.#pick(this.arenas)!;
      const own = [...this.known].filter(
        ([, { tenantId, deleted }]) => tenantId === arena.tenantId && !deleted,
      );
      const dice = this.random.next();
      if (dice < 0.4 || own.length < 2) await this.#create(arena);
      else if (dice < 0.6) await this.#moveShared(arena);
      else if (dice < 0.85) await this.#move(arena, this.#pick(own)![0]);
      else await this.#delete(arena, this.#pick(own)![0]);
    }
  }

  async #create({ api, tenantId, shared }: Arena): Promise<void> {
    const name = `${this.name}-${(this.#count += 1)}`;
    const parentId = this.random.next() < 0.5 ? 0 : this.#pick(shared)!;
    const key = { 'idempotency-key': randomUUID() };
    const { answer } = await this.#insist(() => api.post(PATH, { deptName: name, parentId }, key));
    if (answer.status !== 200) throw new Error(`A department was not made: ${answer.text}`);
    const { location = '' } = answer.headers;
    this.known.set(Number(location.slice(location.lastIndexOf('/') + 1)), {
      name,
      tenantId,
      parentId,
      deleted: false,
    });
  }

  async #move({ api, shared }: Arena, deptId: number): Promise<void> {
    const parentId = this.random.next() < 0.3 ? 0 : this.#pick(shared)!;
    const { answer } = await this.#insist(() => api.patch(`${PATH}/${deptId}`, { parentId }));
    if (answer.status !== 200) throw new Error(`${deptId} was not moved: ${answer.text}`);
    this.known.get(deptId)!.parentId = parentId;
  }

  /** Below another one that may be moved below this one at the same moment. */
  async #moveShared({ api, shared }: Arena): Promise<void> {
    const [one, other] = [this.#pick(shared)!, this.#pick(shared)!];
    const parentId = one === other ? 0 : other;
    const { answer } = await this.#insist(() => api.patch(`${PATH}/${one}`, { parentId }));
    if (answer.status === 409 && answer.refusal.reason === 'DEPT_CYCLE') this.log.refused += 1;
    else if (answer.status !== 200) throw new Error(`${one} was not moved: ${answer.text}`);
  }

  async #delete({ api }: Arena, deptId: number): Promise<void> {
    const { answer, wasRepeated } = await this.#insist(() => api.delete(`${PATH}/${deptId}`));
    // Sent again, it may be gone already: the first time nobody heard the answer.
    if (answer.status !== 200 && !(wasRepeated && answer.status === 404))
      throw new Error(`${deptId} was not deleted: ${answer.text}`);
    this.known.get(deptId)!.deleted = true;
  }

  async #insist(send: () => Promise<Answer>): Promise<{ answer: Answer; wasRepeated: boolean }> {
    for (let tries = 0; ; tries += 1) {
      const answer = await Promise.race([send().catch(() => null), sleep(REQUEST_MS, null, { ref: false })]);
      if (answer && answer.status !== 503 && answer.status !== 429) {
        if (answer.status === 500) throw new Error(`A bug: ${answer.text}`);
        if (answer.status === 200) this.log.at.push(performance.now());
        return { answer, wasRepeated: tries > 0 };
      }
      this.log.retries += 1;
      await sleep(50 + 100 * this.random.next());
    }
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.random.next() * from.length)];
  }

  /** What of the acknowledged is not in this database as it was acknowledged, or is there twice. */
  async losses(dataSource: DataSource): Promise<string[]> {
    const rows = await dataSource.manager.find(DeptEntity, {
      select: { deptId: true, deptName: true, parentId: true, delFlag: true, tenantId: true },
    });
    const own = rows.filter(({ deptName }) => deptName.startsWith(`${this.name}-`));
    const byId = new Map(own.map((row) => [row.deptId, row]));
    const lost = [...this.known].flatMap(([deptId, { name, parentId, deleted, tenantId }]) => {
      const row = byId.get(deptId);
      if (row?.deptName !== name || row.tenantId !== tenantId) return [`${deptId} ${name} is not there`];
      if ((row.delFlag !== '0') !== deleted) return [`${deptId} ${name} is ${deleted ? 'not ' : ''}deleted`];
      return deleted || row.parentId === parentId ? [] : [`${deptId} ${name} stands below ${row.parentId}`];
    });
    const doubled = own.filter(({ deptId }) => !this.known.has(deptId)).map((row) => `${row.deptName} twice`);
    return [...lost, ...doubled];
  }
}
