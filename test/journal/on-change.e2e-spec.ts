import { Injectable, Logger, Scope } from '@nestjs/common';
import { ChangeDto, Clock, OnChange, TenantryModule } from '../../src/index';
import { TenantryLease, TenantryPosition } from '../../src/changes/subscription.entity';
import { aDept, type ApiClient, aTenant, type ThrowAwayDatabase } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { HeaderResolver, Host } from '../support/host';
import { aTenantRow } from '../support/seeds';
import { emptyDatabase } from '../support/test-database';
import { deferred, until, untilLater } from '../support/until';

/** Keeps a copy of department names in memory, as a search index would. */
@Injectable()
class SearchIndex {
  readonly seen: ChangeDto[] = [];
  readonly tried: string[] = [];
  failing = new Set<string>();
  gate: Promise<void> = Promise.resolve();
  atOnce = 0;
  most = 0;

  @OnChange({ name: 'search-index', kinds: ['dept'] })
  async index(change: ChangeDto): Promise<void> {
    this.atOnce += 1;
    this.most = Math.max(this.most, this.atOnce);
    await this.gate;
    this.atOnce -= 1;
    this.tried.push(nameIn(change));
    if (this.failing.has(nameIn(change))) throw new Error('the index is away');
    this.seen.push(change);
  }
}

@Injectable()
class Everything {
  readonly seen: string[] = [];

  @OnChange({ name: 'everything' })
  see({ tenantId, kind, operation }: ChangeDto): void {
    this.seen.push(`${tenantId} ${kind} ${operation}`);
  }
}

const nameIn = ({ after, before }: ChangeDto) => String((after ?? before)?.deptName);
const names = (changes: readonly ChangeDto[]) => changes.map(nameIn);

function parts(clock: Clock, ...providers: (new () => unknown)[]) {
  const imports = [
    TenantryModule.forRoot({
      principalResolver: new HeaderResolver(),
      userDirectory: 'none',
      clock,
      controllers: true,
    }),
  ];
  return { imports, providers };
}

describe('@OnChange', () => {
  const clock = new HandClock();
  let database: ThrowAwayDatabase;
  let host: Host;
  let index: SearchIndex;
  let tenantId: string;
  let api: ApiClient;

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    database = await emptyDatabase();
    host = await Host.on(database, parts(clock, SearchIndex, Everything));
    index = host.app.get(SearchIndex);
  });
  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(host, { username: 'ann' }));
    index.seen.length = index.tried.length = 0;
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await host.stop();
  });

  const own = () => index.seen.filter((change) => change.tenantId === tenantId);

  it('@OnChange brings every change of its kinds in the order of the commits, with who and what', async () => {
    const post = (n: number) => api.post('/system/dept-api', { deptName: `d${n}` });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => post(n)));
    // A busy machine refuses some of them.
    const made = answers.filter(({ status }) => status === 200).length;
    const deptId = await aDept(api, { deptName: 'last' });
    await api.delete(`/system/dept-api/${deptId}`);
    await until(() => own().length === made + 2);
    const order = own().map(({ version, seq }) => version * 1000 + seq);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    const [first] = own();
    expect(first).toMatchObject({ tenantId, kind: 'dept', operation: 'created', by: 'ann', before: null });
    expect(own().at(-1)).toMatchObject({ operation: 'deleted', id: deptId, after: null });
    expect(own().every(({ prev }, n) => n === 0 || prev === own()[n - 1]!.version)).toBe(true);
  });

  it('@OnChange brings an import as a whole, page by page', async () => {
    const lines = Array.from({ length: 450 }, (_, n) => `{"path":"i${n}"}\n`).join('');
    await api.post('/system/dept-api/import', lines, { 'content-type': 'application/x-ndjson' });
    await until(() => own().length >= 450);
    expect(own().map(({ seq }) => seq)).toEqual(Array.from({ length: 450 }, (_, n) => n));
  });

  it('@OnChange brings changes of tenants, which stand in the journal of the platform', async () => {
    const { seen } = host.app.get(Everything);
    const { id } = await aTenant(host.as());
    await host.as().patch(`/system/tenant-api/${id}`, { status: '1' });
    await until(() => seen.includes('000000 tenant updated'));
    expect(seen).toContain('000000 tenant created');
    expect(index.tried).toEqual([]);
  });

  it('@OnChange brings a change again after it failed, and lets later ones of that tenant wait, not those of others', async () => {
    const other = await aTenantRow(host.dataSource);
    index.failing.add('bad');
    await aDept(api, { deptName: 'good' });
    await aDept(api, { deptName: 'bad' });
    await aDept(api, { deptName: 'later' });
    await until(() => index.tried.includes('bad'));
    await aDept(host.as({ tenantId: other }), { deptName: 'elsewhere' });
    await until(() => names(index.seen).includes('elsewhere'));
    const at = { journal: tenantId, subscription: 'handler:search-index' };
    const position = () => host.dataSource.manager.findOneByOrFail(TenantryPosition, at);
    await untilLater(clock, 1000, async () => (await position()).attempts >= 4);
    expect(names(own())).toEqual(['good']);
    index.failing.clear();
    await untilLater(clock, 1000, () => own().length === 3);
    expect(names(own())).toEqual(['good', 'bad', 'later']);
    await until(async () => (await position()).attempts === 0);
    expect(await position()).toMatchObject({ failingSince: null, retryAt: null });
  });

  it('@OnChange is called by one process at a time, and another goes on where one has ended', async () => {
    const opened = deferred();
    index.gate = opened.promise;
    await aDept(api, { deptName: 'held' });
    await until(() => index.atOnce === 1);
    const kept = { ...database, drop: () => Promise.resolve() };
    const second = await Host.on(kept, parts(clock, SearchIndex));
    const another = second.app.get(SearchIndex);
    await aDept(second.as({ tenantId }), { deptName: 'second' });
    // It has looked for work at its start, and after its own commit, and found the lease taken.
    await until(async () => (await second.dataSource.manager.count(TenantryLease)) === 1);
    expect(another.tried).toEqual([]);
    opened.resolve();
    index.gate = Promise.resolve();
    await until(() => own().length + another.seen.length === 2);
    expect([...names(own()), ...names(another.seen)]).toEqual(['held', 'second']);
    expect([index.most, another.most]).toEqual([1, Math.min(another.seen.length, 1)]);
    await second.app.close();
  });

  it('@OnChange begins with the oldest change when its name is new, and keeps its place over a restart', async () => {
    await aDept(api, { deptName: 'before' });
    await until(() => own().length === 1);

    @Injectable()
    class Late {
      static readonly seen: string[] = [];

      @OnChange({ name: 'late', kinds: ['dept'] })
      take(change: ChangeDto): void {
        if (change.tenantId === tenantId) Late.seen.push(nameIn(change));
      }
    }
    const kept = { ...database, drop: () => Promise.resolve() };
    for (const expected of [['before'], ['before', 'meanwhile']]) {
      const late = await Host.on(kept, parts(clock, Late));
      await until(() => Late.seen.length === expected.length);
      expect(Late.seen).toEqual(expected);
      await late.app.close();
      await aDept(api, { deptName: 'meanwhile' });
    }
  });

  it.each([Scope.REQUEST, Scope.TRANSIENT])(
    '@OnChange is not for providers of scope %p: the host does not start',
    async (scope) => {
      @Injectable({ scope })
      class Fleeting {
        @OnChange({ name: 'fleeting' })
        never(): void {
          throw new Error('nobody calls this');
        }
      }
      await expect(starting(Fleeting)).rejects.toThrow('Fleeting.never gets no changes');
    },
  );

  it('@OnChange has a name of its own: the host does not start with two of one name, or an odd one', async () => {
    @Injectable()
    class Twin {
      @OnChange({ name: 'search-index' })
      again(): void {
        throw new Error('nobody calls this');
      }
    }
    @Injectable()
    class Odd {
      @OnChange({ name: 'two words' })
      odd(): void {
        throw new Error('nobody calls this');
      }
    }
    await expect(starting(SearchIndex, Twin)).rejects.toThrow("another @OnChange named 'search-index'");
    await expect(starting(Odd)).rejects.toThrow('Odd.odd needs a name');
  });

  async function starting(...providers: (new () => unknown)[]): Promise<void> {
    const kept = { ...database, drop: () => Promise.resolve() };
    await Host.on(kept, parts(clock, ...providers));
  }
});
