import { Injectable } from '@nestjs/common';
import { Brackets, In, Like, MoreThan, Not, Raw, type FindOptionsWhere } from 'typeorm';
import {
  TenantryDept,
  DeptService,
  InjectTenantBound,
  IdempotentRequest,
  TenantBoundRepository,
  tenantBoundToken,
  TenantryModule,
  TenantService,
  type RequestContext,
} from '../../src/index';
import { HeaderResolver, Host, system } from '../support/host';
import { CurrencyEntity, LineEntity, OrderEntity } from '../support/host-tables';
import { aTenantRow } from '../support/seeds';
import { deferred } from '../support/until';

@Injectable()
class OrderService {
  constructor(@InjectTenantBound(OrderEntity) readonly orders: TenantBoundRepository<OrderEntity>) {}
}

const principalResolver = new HeaderResolver();
const tenantry = () => TenantryModule.forRoot({ principalResolver, userDirectory: 'none' });

describe('a tenant-bound repository', () => {
  let host: Host;
  let orders: TenantBoundRepository<OrderEntity>;
  let own: RequestContext;
  let foreign: RequestContext;

  beforeAll(async () => {
    host = await Host.start({
      imports: [
        tenantry(),
        TenantryModule.forFeature([OrderEntity]),
        TenantryModule.forFeature([LineEntity]),
      ],
      providers: [OrderService],
    });
    ({ orders } = host.app.get(OrderService));
  });
  beforeEach(async () => {
    own = system(await aTenantRow(host.dataSource));
    foreign = system(await aTenantRow(host.dataSource));
    await orders
      .in(own)
      .insert({ title: 'a', amount: 3 }, { title: 'b', amount: 1 }, { title: 'c', amount: 2 });
    await orders.in(foreign).insert({ title: 'a', amount: 9 });
  });
  afterAll(() => host.stop());

  const stored = (ctx: RequestContext) =>
    host.dataSource.manager.find(OrderEntity, {
      where: { tenantId: ctx.tenantId },
      order: { orderId: 'ASC' },
    });
  const titles = (rows: OrderEntity[]) => rows.map(({ title }) => title);

  it('a tenant-bound repository is found by its token', () => {
    expect(host.app.get(tenantBoundToken(LineEntity))).toBeInstanceOf(TenantBoundRepository);
    expect(tenantBoundToken(LineEntity)).not.toBe(tenantBoundToken(OrderEntity));
  });

  it('a tenant-bound repository reads the rows of its tenant, by conditions, in an order, so many', async () => {
    const rows = orders.in(own);
    expect(titles(await rows.find({}, { order: { amount: 'ASC' } }))).toEqual(['b', 'c', 'a']);
    expect(titles(await rows.find({}, { order: { amount: 'DESC' }, limit: 2 }))).toEqual(['a', 'c']);
    expect(titles(await rows.find({ amount: MoreThan(1), title: Not('a') }))).toEqual(['c']);
    expect((await rows.find()).length).toBe(3);
    expect(await rows.findOne({ title: 'b' })).toMatchObject({ tenantId: own.tenantId, amount: 1 });
    expect(await rows.findOne({ amount: 9 })).toBeNull();
    expect([await rows.count(), await rows.count({ amount: In([1, 2, 9]) })]).toEqual([3, 2]);
    expect([await rows.exists({ title: 'c' }), await rows.exists({ amount: 9 })]).toEqual([true, false]);
  });

  it('a tenant-bound repository writes rows of its tenant alone', async () => {
    const rows = orders.in(own);
    const orderId = (await rows.insert({ title: 'd', amount: 4 }))!;
    expect(await rows.findOne({ orderId })).toMatchObject({ title: 'd', tenantId: own.tenantId });
    expect(await rows.update({ title: 'a' }, { amount: 30 })).toBe(1);
    expect(await rows.update({}, { title: 'x' })).toBe(4);
    expect(await rows.delete({ amount: In([30, 9]) })).toBe(1);
    expect((await stored(own)).map(({ amount }) => amount)).toEqual([1, 2, 4]);
    expect(await stored(foreign)).toMatchObject([{ title: 'a', amount: 9 }]);
  });

  describe('conditions cannot leave the tenant', () => {
    type Where = FindOptionsWhere<OrderEntity>;

    it.each<[string, () => Where | Where[]]>([
      ['by naming another one', () => ({ tenantId: foreign.tenantId })],
      ['by naming both', () => ({ tenantId: In([foreign.tenantId]) })],
      ['by excluding its own', () => ({ tenantId: Not(own.tenantId) })],
      ['by alternatives', () => [{ tenantId: foreign.tenantId }, { amount: 9 }]],
    ])('a condition does not leave the tenant %s', async (_, where) => {
      const rows = orders.in(own);
      expect(await rows.find(where())).toEqual([]);
      expect(await rows.findOne(where())).toBeNull();
      expect([await rows.count(where()), await rows.exists(where())]).toEqual([0, false]);
      expect(await rows.update(where(), { title: 'stolen' })).toBe(0);
      expect(await rows.delete(where())).toBe(0);
      expect(titles(await stored(foreign))).toEqual(['a']);
      await orders.transaction(own, async (inside) => {
        expect(await inside.find(where())).toEqual([]);
        expect(await inside.delete(where())).toBe(0);
      });
    });

    it('a condition does not leave the tenant by alternatives of which one is everything', async () => {
      const found = await orders.in(own).find([{}, { tenantId: foreign.tenantId }, { title: Like('%') }]);
      expect(new Set(found.map(({ tenantId }) => tenantId))).toEqual(new Set([own.tenantId]));
      expect(found.length).toBe(3);
    });

    it.each<[string, unknown]>([
      ['text', '1=1 OR 1=1'],
      ['a function', () => '1=1 OR 1=1'],
      ['brackets', new Brackets((where) => where.where('1=1'))],
      ['an operator with SQL', { amount: Raw(() => '1=1 OR 1=1') }],
      ['an operator with SQL inside another', { amount: Not(Raw((amount) => `${amount} = 0 OR 1=1`)) }],
      ['no alternative', []],
      ['an alternative that is none', [{ amount: 1 }, null]],
      ['nothing', null],
      ['a value that is not there', { orderId: undefined }],
    ])('a condition that is %s is refused', async (_, where) => {
      const rows = orders.in(own);
      for (const name of ['find', 'findOne', 'count', 'exists', 'delete'] as const) {
        await expect(rows[name](where as never)).rejects.toThrow(/condition/);
      }
      await expect(rows.update(where as never, { title: 'x' })).rejects.toThrow(/condition/);
      expect([(await stored(own)).length, titles(await stored(foreign))]).toEqual([3, ['a']]);
    });

    it('an order that is no column is refused', async () => {
      const order = { 'amount; DROP TABLE host_order': 'ASC' } as never;
      await expect(orders.in(own).find({}, { order })).rejects.toThrow('no column');
      const direction = { amount: 'ASC, (SELECT 1)' } as never;
      await expect(orders.in(own).find({}, { order: direction })).rejects.toThrow();
    });

    it('every row that is written is stamped with the tenant', async () => {
      const rows = orders.in(own);
      const orderId = (await rows.insert({ title: 'd', amount: 4, tenantId: foreign.tenantId }))!;
      expect(await rows.findOne({ orderId })).toMatchObject({ tenantId: own.tenantId });
      expect(await rows.update({ orderId }, { amount: 5, tenantId: foreign.tenantId })).toBe(1);
      expect(await rows.findOne({ orderId })).toMatchObject({ amount: 5, tenantId: own.tenantId });
      expect((await stored(foreign)).length).toBe(1);
    });

    it('a relation on the column of the tenant, or SQL as a value, is refused', async () => {
      const rows = orders.in(own);
      const tenant = { tenantId: foreign.tenantId } as OrderEntity['tenant'] & object;
      await expect(rows.insert({ title: 'd', amount: 4, tenant })).rejects.toThrow(
        'follows from the context',
      );
      await expect(rows.update({}, { tenant })).rejects.toThrow('follows from the context');
      const amount = (() => `0, tenant_id = '${foreign.tenantId}'`) as never;
      await expect(rows.update({}, { amount })).rejects.toThrow('not SQL');
      await expect(rows.insert({ title: 'd', amount })).rejects.toThrow('not SQL');
      await expect(rows.insert()).rejects.toThrow('no row');
      expect([(await stored(own)).length, (await stored(foreign)).length]).toEqual([3, 1]);
    });
  });

  it.each([undefined, null, {}, '000000'])(
    'a tenant-bound repository has no door without a context (%p)',
    async (ctx) => {
      expect(() => orders.in(ctx as never)).toThrow('needs a RequestContext');
      await expect(orders.transaction(ctx as never, (rows) => rows.find())).rejects.toThrow('RequestContext');
    },
  );

  it('a tenant-bound repository takes no context that somebody made up', async () => {
    const made = Object.fromEntries(Object.entries(own));
    expect(() => orders.in(made as never)).toThrow('needs a RequestContext');
    await expect(orders.transaction(made as never, (rows) => rows.find())).rejects.toThrow('RequestContext');
    await expect(host.app.get(DeptService).get(made as never, 1)).rejects.toThrow('RequestContext');
    await expect(host.app.get(TenantService).get(made as never, '1')).rejects.toThrow('RequestContext');
  });

  it('a tenant-bound repository is not there for an entity that no tenant can own', async () => {
    const imports = [tenantry(), TenantryModule.forFeature([CurrencyEntity as never])];
    const { database } = host;
    const kept = { ...database, drop: () => Promise.resolve() };
    await expect(Host.on(kept, { imports })).rejects.toThrow('CurrencyEntity has no column for tenantId');
    await orders.transaction(own, async (_, of) => {
      expect(() => of(CurrencyEntity as never)).toThrow('has no column for tenantId');
      await Promise.resolve();
    });
  });

  describe('in a transaction', () => {
    it('a tenant-bound transaction writes all or nothing, in several tables', async () => {
      const failing = orders.transaction(own, async (rows, of) => {
        const orderId = (await rows.insert({ title: 'd', amount: 4 }))!;
        await of(LineEntity).insert({ orderId });
        throw new Error('no, after all');
      });
      await expect(failing).rejects.toThrow('no, after all');
      expect((await stored(own)).length).toBe(3);
      const orderId = await orders.transaction(own, async (rows, of) => {
        const made = (await rows.insert({ title: 'd', amount: 4 }))!;
        await of(LineEntity).insert({ orderId: made });
        expect(await rows.findOne({ orderId: made })).toMatchObject({ title: 'd' });
        return made;
      });
      const lines = await host.dataSource.manager.findBy(LineEntity, { tenantId: own.tenantId });
      expect(lines).toMatchObject([{ orderId }]);
    });

    describe('that a client wants done once', () => {
      const LIMIT = 64 * 1024;
      let keys = 0;

      /** Runs equal requests, one after the other; each of them adds an order, if it is not a repeat. */
      const requests = () => {
        const scope = { tenantId: own.tenantId, subject: 's', route: 'POST /orders', key: `k${(keys += 1)}` };
        let replays = 0;
        const run = <T>(result: T) =>
          orders.transaction(
            own,
            async (rows) => {
              await rows.insert({ title: 'once', amount: 1 });
              return result;
            },
            new IdempotentRequest(scope, 'body', () => (replays += 1)),
          );
        return { run, replays: () => replays };
      };

      it.each<[string, unknown]>([
        ['a name in Chinese', { name: '研发部' }],
        ['what needs four bytes, quotes and escapes', ['😀', '"\\\u0000\n', '\ud800']],
        ['a number, which is not a text', 12],
        ['a text, which is not a number', '12'],
        ['an empty text', ''],
        ['null', null],
        ['nothing', undefined],
        ['false', false],
        ['nested data', { list: [1, -2.5, { deep: [[], {}] }], none: null }],
        ['a long text', 'x'.repeat(10_000)],
        ['as much as there may be', 'x'.repeat(LIMIT - 2)],
        ['as much in three bytes a character', '部'.repeat(LIMIT / 3 - 2)],
      ])('an idempotent transaction gives its repeat %s again', async (_, result) => {
        const { run, replays } = requests();
        expect([await run(result), replays()]).toEqual([result, 0]);
        expect([await run('another'), replays()]).toEqual([result, 1]);
        expect((await stored(own)).length).toBe(4);
      });

      it('an idempotent transaction leaves out a property that is undefined', async () => {
        const { run } = requests();
        await run({ a: 1, b: undefined });
        expect(await run(null)).toStrictEqual({ a: 1 });
      });

      const cycle: unknown[] = [];
      cycle.push(cycle);
      it.each<[string, unknown, string]>([
        ['one byte more', 'x'.repeat(LIMIT - 1), '65537 bytes'],
        ['more bytes than characters', '部'.repeat(LIMIT / 3), 'at most 65536 bytes'],
        ['a bigint', { amount: 1n }, 'amount'],
        ['a cycle', cycle, 'circular'],
        ['undefined in a list', [undefined], 'must be JSON'],
        ['NaN', { rate: NaN }, 'rate'],
        ['a date', { at: new Date(0) }, 'at'],
        ['a map', { map: new Map([[1, 2]]) }, 'map'],
        ['a function', { run: () => 1 }, 'run'],
      ])('an idempotent transaction refuses %s, and writes nothing', async (_, result, message) => {
        const { run } = requests();
        await expect(run(result)).rejects.toThrow(message);
        expect((await stored(own)).length).toBe(3);
        expect(await run('right')).toBe('right');
        expect((await stored(own)).length).toBe(4);
      });

      it('a transaction without a key may give anything: it is not stored', async () => {
        expect(await orders.transaction(own, () => Promise.resolve({ amount: 1n }))).toEqual({ amount: 1n });
      });
    });

    it('a tenant-bound transaction holds the departments it looks at', async () => {
      const depts = host.app.get(DeptService);
      const deptId = await depts.create(own, {});
      const events: string[] = [];
      const looked = deferred();
      // Begun outside of the transaction, as another request would.
      const deletion = looked.promise
        .then(() => depts.delete(own, [deptId]))
        .then(() => void events.push('deleted'));
      await orders.transaction(own, async (rows, of) => {
        const seen = await of(TenantryDept).findOne({ deptId, delFlag: '0' });
        looked.resolve();
        await rows.insert({ title: `for ${seen!.deptId}`, amount: 0 });
        // Time enough for a deletion that nothing holds back.
        for (let n = 0; n < 50; n += 1) await depts.get(own, deptId);
        events.push('ordered');
      });
      await deletion;
      expect(events).toEqual(['ordered', 'deleted']);
    });

    it('a tenant-bound transaction leaves what the library has rules for to its services', async () => {
      const writing = orders.transaction(own, (_, of) =>
        of(TenantryDept).insert({ deptName: 'by the back door' }),
      );
      await expect(writing).rejects.toThrow('written by the services');
    });

    it('tenant-bound transactions count up without losing one', async () => {
      const { orderId } = (await stored(own))[0]!;
      const increment = () =>
        orders.transaction(own, async (rows) => {
          const { amount } = (await rows.findOne({ orderId }))!;
          await rows.update({ orderId }, { amount: amount + 1 });
        });
      await Promise.all(Array.from({ length: 20 }, increment));
      expect((await stored(own))[0]).toMatchObject({ amount: 23 });
    });

    it('a tenant-bound repository is refused for a tenant that is gone', async () => {
      const code = own.tenantId;
      await host.app.get(TenantService).delete(system(), code);
      const refused = { row: { reason: 'TENANT_DELETED' } };
      await expect(orders.in(own).insert({ title: 'late', amount: 0 })).rejects.toMatchObject(refused);
      await expect(orders.transaction(own, (rows) => rows.delete({}))).rejects.toMatchObject(refused);
      expect((await stored(own)).length).toBe(3);
    });
  });
});
