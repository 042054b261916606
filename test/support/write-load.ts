import type { DataSource } from 'typeorm';
import { DeptEntity } from '../../src/dept/dept.entity';
import { TenantEntity } from '../../src/tenant/tenant.entity';
import { AccountEntity } from '../../src/tenant/account.entity';
import { mintToken, type ApiClient } from '../../src/server/testing';
import type { Chance } from './chance';
import { aTenantRow } from './seeds';
import { Writer } from './writer';

/** What holds for every run: tenants, writers in each, and accounts that a tenant may have. */
const TENANTS = 3;
const WRITERS = 2;
const ACCOUNTS = 12;

/** Several writers at once, who can be told to rest; and what the database must hold then. */
export class WriteLoad {
  /** Whether a writer met what it does not understand; `rest` tells what. */
  hasFailed = false;
  #resting = true;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly dataSource: DataSource,
    readonly writers: readonly Writer[],
  ) {}

  /** `dataSource` is for looking, not for writing: it goes to the database past the service. */
  static async on(
    anonymous: () => ApiClient,
    dataSource: DataSource,
    random: Chance,
    { withoutKeys = false } = {},
  ): Promise<WriteLoad> {
    const writers: Writer[] = [];
    for (let n = 0; n < TENANTS; n += 1) {
      const tenantId = await aTenantRow(dataSource, { accountCount: ACCOUNTS });
      const api = () => anonymous().as(mintToken({ tenantId }));
      const root = () => anonymous().as(mintToken({ roles: ['superadmin'] }));
      for (let w = 0; w < WRITERS; w += 1)
        writers.push(new Writer({ label: `t${n}w${w}`, tenantId, api, root }, random.fork(), withoutKeys));
    }
    return new WriteLoad(dataSource, writers);
  }

  get acknowledged(): number {
    return this.writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  get retried(): number {
    return this.writers.reduce((sum, { retried }) => sum + retried, 0);
  }

  begin(): void {
    this.#resting = false;
    this.#running = Promise.all(
      this.writers.map(async (writer) => {
        while (!this.#resting) await writer.step();
      }),
    );
    // Whoever rests hears of it; until then it must not end the process.
    this.#running.catch(() => (this.hasFailed = true));
  }

  /** Lets every writer finish what it is about. */
  async rest(): Promise<void> {
    this.#resting = true;
    await this.#running;
  }

  /** Everything that was acknowledged and is missing or other, and everything that is there and was not. */
  async problems(): Promise<string[]> {
    const problems: string[] = [];
    for (const tenantId of new Set(this.writers.map(({ place }) => place.tenantId))) {
      const own = this.writers.filter(({ place }) => place.tenantId === tenantId);
      problems.push(...(await this.#problemsOf(tenantId, own)));
    }
    const tenants = await this.dataSource.manager.find(TenantEntity, {
      select: { id: true, tenantName: true },
    });
    const made = tenants.map(({ tenantName }) => tenantName).filter((name) => /^t\dw\d-/.test(name));
    problems.push(
      ...differences(
        'tenant',
        made,
        this.writers.flatMap((writer) => writer.tenants),
      ),
    );
    return problems;
  }

  /** Names of departments that are there although nobody was told so. */
  async untold(): Promise<string[]> {
    const rows = await this.dataSource.manager.find(DeptEntity, { select: { deptId: true, deptName: true } });
    const names = new Set(rows.map(({ deptName }) => deptName));
    return this.writers.flatMap(({ unsure }) => unsure.filter((name) => names.has(name)));
  }

  async #problemsOf(tenantId: string, writers: readonly Writer[]): Promise<string[]> {
    const { manager } = this.dataSource;
    const rows = new Map((await manager.findBy(DeptEntity, { tenantId })).map((row) => [row.deptId, row]));
    const problems: string[] = [];
    for (const { live, gone } of writers) {
      for (const [deptId, { name, parentId }] of live) {
        const row = rows.get(deptId);
        const found = row && `${row.delFlag} ${row.deptName} ${row.parentId}`;
        if (found !== `0 ${name} ${parentId}`) problems.push(`department ${deptId} ${name}: is ${found}`);
        rows.delete(deptId);
      }
      for (const deptId of gone) {
        if (rows.get(deptId)?.delFlag !== '2') problems.push(`department ${deptId}: should be deleted`);
        rows.delete(deptId);
      }
    }
    const unsure = new Set(writers.flatMap((writer) => writer.unsure));
    const rest = [...rows.values()].map(({ deptName }) => deptName);
    const untold = rest.filter((name) => unsure.has(name));
    problems.push(...differences('department', untold, [...new Set(untold)]));
    const imported = writers.flatMap((writer) => writer.imported);
    problems.push(
      ...differences(
        'department',
        rest.filter((name) => !unsure.has(name)),
        imported,
      ),
    );
    const accounts = (await manager.findBy(AccountEntity, { tenantId })).map(({ username }) => username);
    problems.push(
      ...differences(
        'account',
        accounts,
        writers.flatMap((writer) => writer.users),
      ),
    );
    return problems;
  }
}

function differences(what: string, found: readonly string[], expected: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of found) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const name of expected) counts.set(name, (counts.get(name) ?? 0) - 1);
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${what} ${name}: ${count > 0 ? `${count} too many` : 'is missing'}`);
}
