import { DEPT_DEFAULTS, type TenantryDept } from '../../src/dept/dept.entity';
import { DeptRepository } from '../../src/dept/dept.repository';
import type { LockedDeptTree } from '../../src/dept/locked-dept-tree';
import {
  DeptAdoption,
  DeptCreated,
  DeptService,
  DomainEvents,
  IdempotentRequest,
  RequestContext,
  tenantBoundToken,
  TenantryModule,
  TenantryTransaction,
  TenantService,
  type TenantBoundRepository,
  type TenantryUnit,
} from '../../src/index';
import { nextCommits, type Fate } from '../support/commit-faults';
import { HeaderResolver, Host, system } from '../support/host';
import { HostUserEntity, OrderEntity } from '../support/host-tables';
import { aTenantRow } from '../support/seeds';

describe('departments, tenants and rows of a host in one transaction', () => {
  let host: Host;
  let transaction: TenantryTransaction;
  let depts: DeptService;
  let tenantId: string;
  const created: number[] = [];

  beforeAll(async () => {
    host = await Host.start({
      imports: [
        TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' }),
        TenantryModule.forFeature([OrderEntity]),
      ],
    });
    transaction = host.app.get(TenantryTransaction);
    depts = host.app.get(DeptService);
    host.app.get(DomainEvents).on(DeptCreated, ({ deptId }) => created.push(deptId));
  });
  beforeEach(async () => {
    tenantId = await aTenantRow(host.dataSource);
    created.length = 0;
  });
  afterAll(() => host.stop());

  const orders = () => host.dataSource.manager.findBy(OrderEntity, { tenantId });
  const names = async () =>
    (
      (await host.as({ tenantId }).get('/system/dept-api')).body.data as { rows: { deptName: string }[] }
    ).rows.map(({ deptName }) => deptName);
  const open = async (unit: TenantryUnit): Promise<number> => {
    const parentId = await unit.depts.create({ deptName: 'Sales' });
    const deptId = await unit.depts.create({ deptName: 'North', parentId });
    expect(await unit.depts.get(deptId)).toMatchObject({ ancestors: `0,${parentId}` });
    await unit.rows(OrderEntity).insert({ title: 'first', amount: deptId });
    await unit.manager.insert(HostUserEntity, { tenantId, deptId });
    expect(created).toEqual([]);
    return deptId;
  };

  it('a transaction of a host writes departments and rows, with their events after COMMIT', async () => {
    const deptId = await transaction.run(system(tenantId), open);
    expect(await names()).toEqual(['Sales', 'North']);
    expect(await orders()).toMatchObject([{ title: 'first', amount: deptId }]);
    expect(await host.dataSource.manager.countBy(HostUserEntity, { tenantId, deptId })).toBe(1);
    expect(created).toHaveLength(2);
  });

  it('a department administrator of a host is limited by routes, services and transactions alike', async () => {
    const whole = system(tenantId);
    const top = await depts.create(whole, { deptName: 'top' });
    const [root, outside] = [
      await depts.create(whole, { parentId: top }),
      await depts.create(whole, { parentId: top }),
    ];
    const caller = { tenantId, username: 'part', roles: ['dept_admin'] as const, managedDeptIds: [root] };
    const ctx = RequestContext.of({ subject: 'part', ...caller });
    const refused = { row: { reason: 'OUTSIDE_MANAGED_DEPTS' } };
    const made = await depts.create(ctx, { parentId: root, deptName: 'made' });
    await expect(depts.create(ctx, { parentId: top })).rejects.toMatchObject({
      ...refused,
      details: { ids: [top] },
    });
    await expect(depts.delete(ctx, [outside])).rejects.toMatchObject(refused);
    await expect(host.app.get(DeptAdoption).run(ctx, [])).rejects.toMatchObject({ row: { status: 409 } });
    const api = host.as(caller);
    expect((await api.patch(`/system/dept-api/${made}`, { leader: 'x' })).status).toBe(200);
    expect((await api.patch(`/system/dept-api/${outside}`, { leader: 'x' })).refusal.reason).toBe(
      'OUTSIDE_MANAGED_DEPTS',
    );
    const moving = transaction.run(ctx, async (unit) => {
      await unit.depts.patch(made, { deptName: 'renamed' });
      await unit.depts.delete([outside]);
    });
    await expect(moving).rejects.toMatchObject(refused);
    const nested = await transaction.run(ctx, async (unit) => {
      const below = await unit.depts.create({ parentId: made });
      return unit.depts.create({ parentId: below, deptName: 'nested' });
    });
    expect(await names()).toEqual(expect.arrayContaining(['made', 'nested']));
    expect(await depts.get(whole, nested)).toMatchObject({ createBy: 'part' });
  });

  it('every write of the locked tree refuses what is outside by itself, whatever the service has checked', async () => {
    const whole = system(tenantId);
    const top = await depts.create(whole, { deptName: 'top' });
    const inner = await depts.create(whole, { parentId: top, deptName: 'inner' });
    const [gone, far] = [await depts.create(whole, { parentId: top }), await depts.create(whole, {})];
    await depts.delete(whole, [gone, far]);
    const ctx = RequestContext.of({
      ...{ subject: 'part', tenantId, username: 'part', roles: ['dept_admin'], managedDeptIds: [top] },
    });
    const place = { parentId: 0, ancestors: '0', depth: 1 };
    const writes: Record<string, (tree: LockedDeptTree, dept: TenantryDept) => Promise<unknown>> = {
      add: (tree) => tree.add(DEPT_DEFAULTS, place),
      addMany: (tree) => tree.addMany([{ ...DEPT_DEFAULTS, ...place }]),
      adopt: (tree) => tree.adopt([{ ...DEPT_DEFAULTS, ...place, deptId: 99_000_000 }]),
      replace: (tree, dept) => tree.replace(dept, { ...DEPT_DEFAULTS, status: '1' }),
      move: (tree, dept) => tree.replace(dept, DEPT_DEFAULTS, place),
      'move out': async (tree) => tree.replace((await tree.find(inner))!, DEPT_DEFAULTS, place),
      replaceMany: (tree, row) => tree.replaceMany([{ row, values: { ...DEPT_DEFAULTS, status: '1' } }]),
      setOrder: (tree, dept) => tree.setOrder([dept]),
      markDeleted: (tree, dept) => tree.markDeleted([dept], dept),
      restore: async (tree) => tree.restore((await tree.findDeleted(gone))!, place, []),
      'restore from outside': async (tree) => {
        const below = { parentId: top, ancestors: `0,${top}`, depth: 2 };
        return tree.restore((await tree.findDeleted(far))!, below, []);
      },
    };
    const repository = host.app.get(DeptRepository, { strict: false });
    for (const [name, write] of Object.entries(writes)) {
      const writing = repository.transaction(ctx, async (tree) => write(tree, (await tree.find(top))!));
      await expect(writing.then(() => name)).rejects.toMatchObject({
        row: { reason: 'OUTSIDE_MANAGED_DEPTS' },
      });
    }
    expect(await names()).toEqual(['top', 'inner']);
  });

  it('a transaction of a host does not read departments as they were: its own changes are not in the journal yet', async () => {
    const failing = transaction.run(system(tenantId), async (unit) => unit.depts.get(await open(unit), 0));
    await expect(failing).rejects.toThrow('outside of a transaction');
  });

  it('a transaction of a host writes nothing when any of it fails', async () => {
    const failing = transaction.run(system(tenantId), async (unit) => {
      await open(unit);
      await unit.depts.delete([999_999]);
    });
    await expect(failing).rejects.toMatchObject({ row: { reason: 'DEPT_NOT_FOUND' } });
    const broken = transaction.run(system(tenantId), async (unit) => {
      await open(unit);
      throw new Error('a bug of the host');
    });
    await expect(broken).rejects.toThrow('a bug of the host');
    expect([await names(), await orders(), created]).toEqual([[], [], []]);
    expect(await host.dataSource.manager.countBy(HostUserEntity, { tenantId })).toBe(0);
  });

  it.each<Fate>(['conflict', 'unheard'])(
    'a transaction of a host happens once when the COMMIT ends in: %s',
    async (fate) => {
      const left = nextCommits(host.dataSource, fate);
      await transaction.run(system(tenantId), open);
      expect(left()).toBe(0);
      expect([await names(), (await orders()).length, created.length]).toEqual([['Sales', 'North'], 1, 2]);
    },
  );

  it('a transaction of a host writes nothing when one call fails beside another that is still under way', async () => {
    for (let n = 0; n < 40; n += 1) {
      const failing = transaction.run(system(tenantId), async (unit) => {
        const parentId = await unit.depts.create({ deptName: 'parent' });
        const child = unit.depts.create({ deptName: 'child', parentId });
        const order = unit.rows(OrderEntity).insert({ title: 'beside', amount: n });
        const failure = new Promise((_, reject) => setTimeout(reject, n % 8, new Error('my check')));
        await Promise.all([child, order, failure]);
      });
      await expect(failing).rejects.toThrow('my check');
    }
    expect(await names()).toEqual([]);
    expect(await orders()).toEqual([]);
  });

  it('a transaction of a host writes all of it when the host does not wait for some of it', async () => {
    await transaction.run(system(tenantId), (unit) => {
      for (let n = 0; n < 5; n += 1) void unit.depts.create({ deptName: `forgotten ${n}` });
      return Promise.resolve();
    });
    expect(await names()).toHaveLength(5);
    expect(created).toHaveLength(5);
  });

  it('a transaction of a host happens once for a request that is sent twice', async () => {
    const scope = { tenantId, subject: 's', route: 'POST /sales', key: 'k' };
    const send = () => transaction.run(system(tenantId), open, new IdempotentRequest(scope, 'body'));
    expect(await send()).toBe(await send());
    expect((await orders()).length).toBe(1);
  });

  it('a transaction of a host makes a tenant together with its first administrator, or neither', async () => {
    const signUp = (isFailing: boolean) =>
      transaction.run(system(), async (unit) => {
        const id = await unit.tenants.create({ tenantName: 'a customer' });
        const { tenantId: code } = await unit.tenants.get(id);
        await unit.manager.insert(HostUserEntity, { tenantId: code, deptId: 1 });
        if (isFailing) throw new Error('no');
        return { id, code };
      });
    const count = () => host.dataSource.manager.count(HostUserEntity);
    const before = await count();
    await expect(signUp(true)).rejects.toThrow('no');
    expect(await count()).toBe(before);
    const { id, code } = await signUp(false);
    expect(await host.app.get(TenantService).get(system(), id)).toMatchObject({ tenantId: code });
    expect(await host.dataSource.manager.countBy(HostUserEntity, { tenantId: code })).toBe(1);
  });

  it('transactions of a host do not deadlock, though tenants and departments are changed from both ends', async () => {
    const admin = system(tenantId);
    const work = (n: number) =>
      transaction.run(admin, async (unit) => {
        await unit.depts.create({ deptName: `d${n}` });
        await unit.tenants.create({ tenantName: `t${n}` });
      });
    const tenants = host.app.get(TenantService);
    const others = [1, 2, 3].map((n) => tenants.create(admin, { tenantName: `o${n}` }));
    await Promise.all([...[1, 2, 3].map(work), ...others]);
    expect(await names()).toHaveLength(3);
  });

  describe('a call that would wait for the transaction it is in', () => {
    const INSIDE = 'would wait for the transaction that it is called in';

    it('a call that would wait for the transaction it is in fails at once, and says what to call', async () => {
      const inside = transaction.run(system(tenantId), () => depts.create(system(tenantId), {}));
      await expect(inside).rejects.toThrow(INSIDE);
      const rows = host.app.get<TenantBoundRepository<OrderEntity>>(tenantBoundToken(OrderEntity));
      const inRows = rows.transaction(system(tenantId), () => depts.create(system(tenantId), {}));
      await expect(inRows).rejects.toThrow('unit.depts');
      const nested = transaction.run(system(tenantId), () => transaction.run(system(tenantId), open));
      await expect(nested).rejects.toThrow(INSIDE);
      const single = rows.transaction(system(tenantId), () =>
        rows.in(system(tenantId)).insert({ title: 'x', amount: 1 }),
      );
      await expect(single).rejects.toThrow(INSIDE);
      const foreign = rows.transaction(system(tenantId), () =>
        rows.in(system()).insert({ title: 'x', amount: 1 }),
      );
      await expect(foreign).rejects.toThrow(INSIDE);
      expect(await names()).toEqual([]);
    });

    it('a call is allowed again when the transaction is over, but its unit is not', async () => {
      let kept: TenantryUnit | undefined;
      await transaction.run(system(tenantId), async (unit) => {
        kept = unit;
        await unit.depts.create({ deptName: 'a' });
      });
      await expect(kept!.depts.create({ deptName: 'b' })).rejects.toThrow('is over');
      await expect(kept!.depts.get(1)).rejects.toThrow('is over');
      await expect(kept!.rows(OrderEntity).find()).rejects.toThrow('is over');
      await depts.create(system(tenantId), { deptName: 'c' });
      expect(await names()).toEqual(['a', 'c']);
    });
  });
});
