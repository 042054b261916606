import { Injectable, Logger, Scope } from '@nestjs/common';
import {
  DeptCreated,
  DeptDeleted,
  TenantryDept,
  DeptEvent,
  DeptMoved,
  DeptService,
  DeptUpdated,
  DomainEvent,
  DomainEvents,
  OnDomainEvent,
  TenantDisabled,
  TenantryTenant,
  TenantEvent,
  TenantryModule,
  TenantService,
} from '../../src/index';
import { aDept, type ApiClient, aTenant } from '../../src/server/testing';
import { nextCommits, type Fate } from '../support/commit-faults';
import { freshTenant } from '../support/fresh-tenant';
import { HeaderResolver, Host, system } from '../support/host';
import { TcpProxy } from '../support/tcp-proxy';
import { emptyDatabase, onServer } from '../support/test-database';

const DEPTS = '/system/dept-api';

@Injectable()
class Listener {
  readonly heard: DomainEvent[] = [];
  readonly moves: DeptMoved[] = [];
  readonly some: (DeptDeleted | TenantDisabled)[] = [];

  @OnDomainEvent(DomainEvent)
  all(event: DomainEvent): void {
    this.heard.push(event);
  }

  @OnDomainEvent(DeptMoved)
  moved(event: DeptMoved): void {
    this.moves.push(event);
  }

  @OnDomainEvent(DeptDeleted, TenantDisabled)
  ended(event: DeptDeleted | TenantDisabled): void {
    this.some.push(event);
  }
}

const parts = {
  imports: [TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' })],
  // Under two names, but one listener.
  providers: [Listener, { provide: 'alias', useExisting: Listener }],
};

describe('domain events', () => {
  let host: Host;
  let listener: Listener;
  let events: DomainEvents;
  let tenantId: string;
  let api: ApiClient;

  beforeAll(async () => {
    host = await Host.start(parts);
    listener = host.app.get(Listener);
    events = host.app.get(DomainEvents);
  });
  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(host, { username: 'ann' }));
    names();
  });
  afterAll(() => host.stop());

  const names = (): string[] => listener.heard.splice(0).map((event) => event.constructor.name);

  it('domain events tell what happens to departments, and who did it', async () => {
    const [top, deptId] = [await aDept(api), await aDept(api, { deptName: 'a' })];
    await api.put(DEPTS, { deptId, deptName: 'b' });
    await api.patch(`${DEPTS}/${deptId}`, { parentId: top });
    await api.delete(`${DEPTS}/${deptId}`);
    const facts = { tenantId, by: 'ann', deptId };
    const kinds = ['DeptCreated', 'DeptCreated', 'DeptUpdated', 'DeptMoved', 'DeptUpdated', 'DeptDeleted'];
    expect(listener.heard.map((event) => event.constructor.name)).toEqual(kinds);
    const told = listener.heard.slice(1).map((event) => Object.assign({}, event));
    const moved = { ...facts, fromParentId: 0, toParentId: top };
    expect(told).toEqual([facts, facts, moved, facts, facts]);
    expect(listener.moves.splice(0)).toMatchObject([{ deptId, fromParentId: 0, toParentId: top }]);
    expect(listener.some.splice(0)).toMatchObject([facts]);
    expect(listener.heard.every((event) => Object.isFrozen(event))).toBe(true);
  });

  it('domain events reach a handler when the state of the tenant is already the new one', async () => {
    const tenants = host.app.get(TenantService);
    const { id } = await host.dataSource.manager.findOneByOrFail(TenantryTenant, { tenantId });
    expect(await tenants.stateOf(system(tenantId))).toBe('ACTIVE');
    const seen = new Promise((resolve) => {
      const end = events.on(TenantDisabled, () => {
        end();
        resolve(tenants.stateOf(system(tenantId)));
      });
    });
    await host.as().patch(`/system/tenant-api/${id}`, { status: '1' });
    expect(await seen).toBe('DISABLED');
  });

  it('domain events tell what happens to departments in numbers: order, import, batch delete', async () => {
    const [a, b] = [await aDept(api, { deptName: 'a' }), await aDept(api, { deptName: 'b' })];
    names();
    await api.put(`${DEPTS}/order`, { parentId: 0, deptIds: [b, a] });
    expect(listener.heard.map((event) => [event.constructor, (event as DeptEvent).deptId])).toEqual([
      [DeptUpdated, b],
      [DeptUpdated, a],
    ]);
    names();
    const file = '{"path":"a","leader":"x"}\n{"path":"c"}\n{"path":"c/d"}\n';
    const imported = await api.post(`${DEPTS}/import`, file, { 'content-type': 'application/x-ndjson' });
    expect(imported.body.data).toMatchObject({ created: 2, updated: 1 });
    const made = await host.dataSource.manager.findBy(TenantryDept, { tenantId });
    const idOf = (name: string) => made.find(({ deptName }) => deptName === name)!.deptId;
    const facts = listener.heard.map((event) => [event.constructor.name, (event as DeptEvent).deptId]);
    expect(new Set(facts.map(String))).toEqual(
      new Set([`DeptUpdated,${a}`, `DeptCreated,${idOf('c')}`, `DeptCreated,${idOf('d')}`]),
    );
    names();
    await api.delete(`${DEPTS}/${b},${idOf('d')}`);
    expect(names()).toEqual(['DeptDeleted', 'DeptDeleted']);
  });

  it('domain events tell what happens to tenants', async () => {
    const admin = host.as({ username: 'root' });
    const [parent, { id, tenantId: code }] = [await aTenant(admin), await aTenant(admin)];
    const change = (body: object) => admin.patch(`/system/tenant-api/${id}`, body);
    await change({ status: '1' });
    await change({ status: '1' });
    await change({ status: '0' });
    await change({ tenantParent: parent.tenantId });
    await admin.delete(`/system/tenant-api/${id}`);
    const own = listener.heard.filter((event) => event.tenantId === code);
    expect(own.map((event) => event.constructor.name)).toEqual([
      'TenantCreated',
      ...['TenantUpdated', 'TenantDisabled', 'TenantUpdated', 'TenantUpdated', 'TenantEnabled'],
      ...['TenantMoved', 'TenantUpdated', 'TenantDeleted'],
    ]);
    expect(own.every((event) => (event as TenantEvent).id === id && event.by === 'root')).toBe(true);
    expect(own[6]).toMatchObject({ fromParent: '000000', toParent: parent.tenantId });
  });

  it('domain events are delivered after COMMIT', async () => {
    const rows: Promise<TenantryDept | null>[] = [];
    const end = events.on(DeptCreated, ({ deptId }) => {
      // SQLite reads at once, on a connection that sees only what is committed.
      rows.push(host.dataSource.manager.findOneBy(TenantryDept, { deptId }));
    });
    await aDept(api, { deptName: 'committed' });
    end();
    expect(await Promise.all(rows)).toMatchObject([{ deptName: 'committed' }]);
    await aDept(api);
    expect(rows.length).toBe(1);
  });

  it('domain events do not tell of what is refused, also when something was written before', async () => {
    const deptId = await aDept(api);
    names();
    expect((await api.delete(`${DEPTS}/${deptId},999999`)).status).toBe(404);
    expect((await api.put(DEPTS, { deptId, parentId: deptId })).status).toBe(409);
    expect((await api.post(DEPTS, { parentId: 999_999 })).status).toBe(404);
    expect(names()).toEqual([]);
    expect(await host.dataSource.manager.findOneBy(TenantryDept, { deptId })).toMatchObject({ delFlag: '0' });
  });

  it.each<Fate[][]>([[['conflict']], [['conflict', 'conflict']], [['unheard']], [['conflict', 'unheard']]])(
    'domain events are delivered once when COMMIT meets %j',
    async (fates) => {
      for (const headers of [{}, { 'idempotency-key': fates.join() }]) {
        const toCome = nextCommits(host.dataSource, ...fates);
        const answer = await api.post(DEPTS, { deptName: 'tried' }, headers);
        expect([answer.status, toCome()]).toEqual([200, 0]);
        const deptId = Number(answer.headers.location!.split('/').at(-1));
        const told = listener.heard.map((event) => Object.assign({}, event));
        expect(told).toEqual([{ tenantId, by: 'ann', deptId }]);
        names();
        expect((await api.get(answer.headers.location!)).status).toBe(200);
      }
    },
  );

  it('domain events are not delivered again when a key is repeated', async () => {
    const headers = { 'idempotency-key': 'again' };
    const post = () => api.post(DEPTS, { deptName: 'once' }, headers);
    const answers = [await post(), ...(await Promise.all([post(), post(), post()]))];
    expect(new Set(answers.map(({ headers: { location } }) => location)).size).toBe(1);
    expect(names()).toEqual(['DeptCreated']);
  });

  it('domain events are delivered in the order of the commits', async () => {
    await Promise.all(Array.from({ length: 30 }, () => api.post(DEPTS, {})));
    const ids = listener.heard.map((event) => (event as DeptEvent).deptId);
    expect(ids.length).toBe(30);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('domain events do no harm when a handler fails, and say so in the log', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const ends = [
      events.on(DeptEvent, () => {
        throw new Error('thrown');
      }),
      events.on(DeptEvent, () => Promise.reject(new Error('rejected'))),
    ];
    const later: DeptEvent[] = [];
    ends.push(events.on(DeptEvent, (event) => later.push(event)));
    expect((await api.post(DEPTS, { deptName: 'fine' })).status).toBe(200);
    for (const end of ends) end();
    expect([later.length, names()]).toEqual([1, ['DeptCreated']]);
    const calls = log.mock.calls as [{ err: Error; event: string }][];
    const errors = calls.map(([{ err, event }]) => `${err.message} ${event}`);
    log.mockRestore();
    expect(errors).toEqual(['thrown DeptCreated', 'rejected DeptCreated']);
  });

  it('domain events may start work of their own in the same tenant', async () => {
    const depts = host.app.get(DeptService);
    let second: Promise<number> | undefined;
    const end = events.on(DeptCreated, ({ deptId }) => {
      end();
      second = depts.create(system(tenantId), { parentId: deptId, deptName: 'follows' });
    });
    const parentId = await aDept(api);
    expect(await depts.get(system(tenantId), (await second)!)).toMatchObject({ parentId });
  });

  it.each([Scope.REQUEST, Scope.TRANSIENT])(
    'domain events are not for providers of scope %p: the host does not start',
    async (scope) => {
      @Injectable({ scope })
      class Fleeting {
        @OnDomainEvent(DeptCreated)
        never(): void {
          throw new Error('nobody calls this');
        }
      }
      const kept = { ...host.database, drop: () => Promise.resolve() };
      const starting = Host.on(kept, { ...parts, providers: [Fleeting] });
      await expect(starting).rejects.toThrow('Fleeting.never hears no events');
    },
  );
});

if (onServer) {
  it('domain events are delivered once when the answer to COMMIT is lost on the way', async () => {
    const database = await emptyDatabase();
    const { proxy, url } = await TcpProxy.before(database.url);
    const host = await Host.on(database, parts, { url });
    const { heard } = host.app.get(Listener);
    for (const fault of ['cut-before', 'cut-after', 'cut-before', 'cut-after'] as const) {
      proxy.fault = fault;
      const deptId = await aDept(host.as(), { deptName: fault });
      expect(heard.splice(0)).toMatchObject([{ deptId }]);
    }
    expect(proxy.struck).toBe(4);
    await host.stop();
    await proxy.close();
  });
}
