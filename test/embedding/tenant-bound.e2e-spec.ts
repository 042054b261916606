import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  Brackets,
  In,
  IsNull,
  Like,
  MoreThan,
  Not,
  Raw,
  SelectQueryBuilder,
  type FindOptionsWhere,
} from 'typeorm';
import type { QueryResultCache } from 'typeorm/cache/QueryResultCache.js';
import type { QueryResultCacheOptions } from 'typeorm/cache/QueryResultCacheOptions.js';
import {
  TenantryDept,
  DeptService,
  Doctor,
  entities,
  InjectTenantBound,
  IdempotentRequest,
  TenantBoundRepository,
  tenantBoundToken,
  TenantryModule,
  TenantService,
  type RequestContext,
} from '../../src/index';
import { HeaderResolver, Host, hostDataSource, system } from '../support/host';
import { ContractEntity, CurrencyEntity, LineEntity, OrderEntity } from '../support/host-tables';
import { aTenantRow } from '../support/seeds';
import { onServer } from '../support/test-database';
import { nextCommits } from '../support/commit-faults';
import { isWaitingForLock } from '../support/lock-waits';
import { deferred, until } from '../support/until';

@Injectable()
class OrderService {
  constructor(@InjectTenantBound(OrderEntity) readonly orders: TenantBoundRepository<OrderEntity>) {}
}

/** A cache of TypeORM's that never forgets. */
class EternalCache implements QueryResultCache {
  readonly #kept = new Map<string, QueryResultCacheOptions>();

  getFromCache({ identifier, query }: QueryResultCacheOptions) {
    return Promise.resolve(this.#kept.get(identifier ?? query!));
  }

  storeInCache(options: QueryResultCacheOptions) {
    this.#kept.set(options.identifier ?? options.query!, options);
    return Promise.resolve();
  }

  isExpired = () => false;
  connect = () => Promise.resolve();
  disconnect = () => Promise.resolve();
  synchronize = () => Promise.resolve();
  clear = () => Promise.resolve();
  remove = () => Promise.resolve();
}

const principalResolver = new HeaderResolver();
const tenantry = () => TenantryModule.forRoot({ principalResolver, userDirectory: 'none' });

describe('a tenant-bound repository', () => {
  let host: Host;
  let orders: TenantBoundRepository<OrderEntity>;
  let lines: TenantBoundRepository<LineEntity>;
  let contracts: TenantBoundRepository<ContractEntity>;
  let own: RequestContext;
  let foreign: RequestContext;

  beforeAll(async () => {
    host = await Host.start(
      {
        imports: [
          tenantry(),
          TenantryModule.forFeature([OrderEntity]),
          TenantryModule.forFeature([LineEntity, ContractEntity]),
        ],
        providers: [OrderService],
      },
      // So that every test of this file fails that is answered from it.
      { options: { cache: { alwaysEnabled: true, provider: () => new EternalCache() } } },
    );
    ({ orders } = host.app.get(OrderService));
    lines = host.app.get(tenantBoundToken(LineEntity));
    contracts = host.app.get(tenantBoundToken(ContractEntity));
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
      cache: false,
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
      ['null', { orderId: null }],
      ['a relation of which nothing is said', { lines: {} }],
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

  describe('entities with more than columns', () => {
    it('hooks of an entity run before a row is inserted, changed, and after it is read, and leave its tenant alone', async () => {
      const rows = contracts.in(own);
      const contractId = (await rows.insert({ title: 'lease' }))!;
      const inserted = { hooksRun: 'insert lease', status: 'new', tenantId: own.tenantId, loads: 1 };
      expect(await rows.findOne({ contractId })).toMatchObject(inserted);
      await rows.update({ contractId }, { status: 'signed' });
      expect(await rows.update({ contractId }, { title: 'sale' })).toBe(1);
      const updated = { hooksRun: 'update sale', title: 'sale', status: 'signed', tenantId: own.tenantId };
      expect(await rows.findOne({ contractId })).toMatchObject(updated);
      expect(await contracts.in(system()).count()).toBe(0);
    });

    it('a subscriber is told the id of an inserted row', async () => {
      const heard: unknown[] = [];
      const subscriber = {
        listenTo: () => OrderEntity,
        afterInsert: ({ entity }: { entity: OrderEntity }) =>
          void heard.push(Object.fromEntries(Object.entries(entity))),
      };
      host.dataSource.subscribers.push(subscriber);
      try {
        const orderId = await orders.in(own).insert({ title: 'd', amount: 4 }, { title: 'e', amount: 5 });
        const { tenantId } = own;
        expect(heard).toEqual([
          { orderId, tenantId, title: 'd', amount: 4 },
          { orderId: orderId! + 1, tenantId, title: 'e', amount: 5 },
        ]);
      } finally {
        host.dataSource.subscribers.splice(host.dataSource.subscribers.indexOf(subscriber), 1);
      }
    });

    it('a deleted row of an entity with a date of deletion stays in the table, and is read no more', async () => {
      const rows = contracts.in(own);
      await rows.insert({ title: 'lease' }, { title: 'sale' });
      await contracts.in(foreign).insert({ title: 'lease' });
      expect(await rows.delete({ title: 'lease' })).toBe(1);
      expect(await rows.delete({ title: 'lease' })).toBe(0);
      expect((await rows.find()).map(({ title }) => title)).toEqual(['sale']);
      expect([await rows.count(), await rows.exists({ title: 'lease' })]).toEqual([1, false]);
      const all = await rows.queryBuilder('c').withDeleted().orderBy('c.contractId').getMany();
      expect(all).toMatchObject([{ deletedAt: expect.any(Date) as Date }, { deletedAt: null }]);
      expect(await contracts.in(foreign).count()).toBe(1);
    });

    it('a deleted row of an entity with a date of deletion comes back by an update of that date', async () => {
      const rows = contracts.in(own);
      await rows.insert({ title: 'lease' });
      await rows.delete({});
      await rows.update({ deletedAt: Not(IsNull()) }, { deletedAt: null });
      expect(await rows.count()).toBe(1);
    });

    it('a relation gives rows of its own tenant alone, in conditions and when it is eager', async () => {
      const [ownOrder] = await stored(own);
      const [foreignOrder] = await stored(foreign);
      const rows = contracts.in(own);
      await rows.insert({ title: 'own', orderId: ownOrder!.orderId });
      await rows.insert({ title: 'stolen', order: foreignOrder! }, { title: 'none' });
      const found = await rows.find({}, { order: { contractId: 'ASC' }, limit: 9 });
      expect(found.map(({ order }) => order?.title ?? null)).toEqual(['a', null, null]);
      expect(found[1]!.orderId).toBe(foreignOrder!.orderId);
      const titlesOf = async (where: FindOptionsWhere<ContractEntity>) =>
        (await rows.find(where)).map(({ title }) => title);
      expect(await titlesOf({ order: { title: 'a' } })).toEqual(['own']);
      expect(await titlesOf({ order: { amount: foreignOrder!.amount } })).toEqual([]);
      expect(await rows.count({ order: { title: 'a' } })).toBe(1);
      expect(await rows.exists({ order: { amount: foreignOrder!.amount } })).toBe(false);
      expect(await rows.findOne({ title: 'own' })).toMatchObject({ order: { title: 'a' } });
    });

    it('a relation to many rows gives a row once, and counts rows of its own tenant alone', async () => {
      const { orderId } = (await stored(own))[0]!;
      await lines.in(own).insert({ orderId }, { orderId });
      await lines.in(foreign).insert({ orderId });
      const rows = orders.in(own);
      expect(await rows.find({ lines: { lineId: MoreThan(0) } }, { limit: 5 })).toHaveLength(1);
      expect(await rows.count({ lines: { orderId } })).toBe(1);
      expect(await rows.find({ lines: MoreThan(1) })).toHaveLength(1);
      expect(await rows.find({ lines: MoreThan(2) })).toHaveLength(0);
    });

    it('a write takes of a relation its key alone, and refuses other conditions on it', async () => {
      const { orderId } = (await stored(own))[0]!;
      const rows = contracts.in(own);
      await rows.insert({ title: 'lease', orderId });
      expect(await rows.update({ order: { orderId } }, { title: 'sale' })).toBe(1);
      for (const order of [{ title: 'a' }, { orderId, title: 'b' }]) {
        await expect(rows.update({ order }, { title: 'x' })).rejects.toThrow('A condition on order');
        await expect(rows.delete({ order })).rejects.toThrow('A condition on order');
      }
      expect(await rows.delete([{ order: { orderId } }, { title: 'x' }])).toBe(1);
    });
  });

  describe('a query builder', () => {
    type Builder = SelectQueryBuilder<OrderEntity>;
    const builder = () => orders.in(own).queryBuilder('c');

    it.each<[string, (c: Builder) => unknown]>([
      ['nothing', (c) => c],
      ['where', (c) => c.where('1 = 1')],
      ['orWhere', (c) => c.where('c.amount = 1').orWhere('1 = 1')],
      ['an OR in a text', (c) => c.andWhere('c.amount = 1 OR 1 = 1').orWhere('c.amount > 0')],
      ['where of another tenant', (c) => c.where({ tenantId: foreign.tenantId }).orWhere('1 = 1')],
      ['brackets', (c) => c.where(new Brackets((w) => w.where('1 = 1').orWhere('1 = 1')))],
      [
        'options of find',
        (c) => c.setFindOptions({ where: [{ tenantId: Not('1') }, { amount: MoreThan(0) }] }),
      ],
      ['options of find, twice', (c) => c.where('1 = 1').setFindOptions({}).orWhere('1 = 1')],
      ['ids', (c) => c.where('1 = 0').orWhereInIds([1, 2, 3, 4, 5, 6, 7, 8, 9]).orWhere('1 = 1')],
      ['a clone', (c) => c.clone().where('1 = 1')],
      ['a copy by the class of TypeORM', (c) => new SelectQueryBuilder<OrderEntity>(c).where('1 = 1')],
      ['a page', (c) => c.orWhere('1 = 1').skip(0).take(50)],
      ['a page of joined rows', (c) => c.leftJoinAndSelect('c.lines', 'l').orWhere('1 = 1').take(50)],
      ['an order', (c) => c.orWhere('1 = 1').orderBy('c.amount')],
      ['parameters', (c) => c.where('1 = 1').setParameters({ tenantId: foreign.tenantId })],
    ])('a query builder reads the rows of its tenant after %s', async (_, change) => {
      const changed = change(builder()) as Builder;
      const read = async () => [...new Set((await changed.getMany()).map(({ tenantId }) => tenantId))];
      expect(await read()).toEqual([own.tenantId]);
      // Again: what has run once is bound still.
      expect(await read()).toEqual([own.tenantId]);
      expect((await changed.getManyAndCount())[0]).toHaveLength(3);
      expect(changed.getQuery()).toContain(own.tenantId);
      expect(await changed.getRawMany()).toHaveLength(3);
      expect(await changed.clone().where('c.amount = 9').getExists()).toBe(false);
      expect(await changed.clone().where('1 = 1').orWhere('c.amount = 9').getCount()).toBe(3);
    });

    it('a query builder joins rows of its tenant alone, also as entities, subqueries, and in copies', async () => {
      const { orderId } = (await stored(own))[0]!;
      await lines.in(own).insert({ orderId }, { orderId });
      await lines.in(foreign).insert({ orderId });
      const joined: ((c: Builder) => Builder)[] = [
        (c) => c.leftJoinAndSelect('c.lines', 'l'),
        (c) => c.innerJoinAndSelect('c.lines', 'l', 'l.lineId > 0 OR 1 = 1'),
        (c) => c.leftJoinAndMapMany('c.lines', LineEntity, 'l', 'l.orderId = c.orderId OR 1 = 0'),
        (c) => c.innerJoinAndMapMany('c.lines', 'host_line', 'l', 'l.order_id = c.order_id'),
        (c) => c.setFindOptions({ relations: { lines: true } }),
        (c) => c.setFindOptions({ relations: { lines: true }, relationLoadStrategy: 'query' }),
        (c) => new SelectQueryBuilder(c.leftJoinAndSelect('c.lines', 'l')),
        (c) => c.leftJoinAndSelect('c.lines', 'l').take(3).orderBy('l.lineId'),
      ];
      for (const join of joined) {
        const found = await join(builder()).andWhere('c.orderId = :orderId', { orderId }).getOne();
        expect([join.toString(), found!.lines!.length]).toEqual([join.toString(), 2]);
      }
      const sums = await builder()
        .select('COUNT(*)', 'lines')
        .innerJoin((sub) => sub.select('l.orderId', 'id').from(LineEntity, 'l'), 's', 's.id = c.orderId')
        .addSelect(
          (sub) => sub.select('COUNT(*)').from(LineEntity, 'l').where('1 = 1').orWhere('1 = 1'),
          'all',
        )
        .where((sub) => `c.orderId IN ${sub.subQuery().select('x.orderId').from(LineEntity, 'x').getQuery()}`)
        .getRawOne<object>();
      expect(Object.values(sums!).map(Number)).toEqual([2, 2]);
      const { n } = (await builder()
        .from(LineEntity, 'f')
        .select('COUNT(*)', 'n')
        .getRawOne<{ n: unknown }>())!;
      // Three orders of the tenant, with two lines each.
      expect(Number(n)).toBe(6);
    });

    it('a query builder pages and sums, as libraries of hosts do', async () => {
      const query = builder().where('c.amount > :least', { least: 0 }).orderBy('c.amount', 'DESC');
      expect(titles(await query.clone().take(2).skip(1).getMany())).toEqual(['c', 'b']);
      const counted = await host.dataSource
        .createQueryBuilder()
        .select('COUNT(*)', 'n')
        .from(`(${query.clone().orderBy().getQuery()})`, 'page')
        .setParameters(query.getParameters())
        .getRawOne<{ n: unknown }>();
      expect(Number(counted!.n)).toBe(3);
      const { sum } = (await query
        .clone()
        .orderBy()
        .select('SUM(c.amount)', 'sum')
        .getRawOne<{ sum: unknown }>())!;
      expect(Number(sum)).toBe(6);
    });

    it('a query builder is part of its transaction', async () => {
      const kept = await orders.transaction(own, async (rows) => {
        await rows.insert({ title: 'd', amount: 4 });
        expect(await rows.queryBuilder('c').getCount()).toBe(4);
        return { query: rows.queryBuilder('c') };
      });
      await expect(kept.query.getMany()).rejects.toThrow('released');
    });

    it('a query builder neither writes nor answers from a cache', async () => {
      for (const name of ['insert', 'update', 'delete', 'softDelete', 'restore'] as const)
        expect(() => builder()[name]()).toThrow('only reads');
      expect(() => builder().relation('lines')).toThrow('only reads');
      expect(() => builder().loadAllRelationIds()).toThrow('only reads');
      expect(() => builder().setFindOptions({ loadRelationIds: true })).toThrow('only reads');
      for (const setting of [true, 1000, 'name'] as never[])
        expect(() => builder().cache(setting)).toThrow('not answered from a cache');
      expect(await builder().cache(false).getCount()).toBe(3);
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

  it('an entity of forFeature is loaded by a DataSource that loads entities by itself', async () => {
    const typeorm = TypeOrmModule.forRootAsync({
      name: 'loading',
      useFactory: () => ({
        ...host.dataSource.options,
        entities: [...entities],
        autoLoadEntities: true,
        name: 'loading',
      }),
      dataSourceFactory: (options) =>
        Promise.resolve(hostDataSource(host.database.url, { entities: options!.entities })),
    });
    const root = { principalResolver, userDirectory: 'none', dataSource: 'loading' } as const;
    const feature = TenantryModule.forFeature([OrderEntity, LineEntity], 'loading');
    const module = { module: OrderService, imports: [typeorm, TenantryModule.forRoot(root), feature] };
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    const loaded = app.get<TenantBoundRepository<OrderEntity>>(tenantBoundToken(OrderEntity), {
      strict: false,
    });
    expect(await loaded.in(own).count()).toBe(3);
    await app.close();
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
      expect(await lines.in(own).find()).toMatchObject([{ orderId }]);
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

    it('a tenant-bound transaction does not confirm a department that is deleted', async () => {
      const depts = host.app.get(DeptService);
      const deptId = await depts.create(own, {});
      const ask = () =>
        orders.transaction(own, async (_, of) => {
          const live = { deptId, delFlag: '0' };
          const rows = of(TenantryDept);
          return [await rows.exists(live), await rows.count(live), (await rows.find(live)).length];
        });
      expect(await ask()).toEqual([true, 1, 1]);
      await depts.delete(own, [deptId]);
      expect(await ask()).toEqual([false, 0, 0]);
    });

    it('the doctor does not examine what a host has cached', async () => {
      const deptId = await host.app.get(DeptService).create(own, {});
      const examine = async () => (await host.app.get(Doctor).examine()).findings;
      expect(await examine()).toEqual([]);
      await host.dataSource.manager.update(TenantryDept, { deptId }, { ancestors: '0,7' });
      expect(await examine()).toEqual([expect.stringContaining(`department ${deptId}`)]);
      await host.dataSource.manager.update(TenantryDept, { deptId }, { ancestors: '0' });
      expect(await examine()).toEqual([]);
    });

    it('an insert alone does not wait for a transaction of its tenant', async () => {
      const began = deferred();
      const inserted = deferred();
      // Begun outside of the transaction, as another request would.
      const insertion = began.promise
        .then(() => orders.in(own).insert({ title: 'd', amount: 4 }))
        .then(() => {
          inserted.resolve();
        });
      const running = orders.transaction(own, async (rows) => {
        const before = await rows.count();
        began.resolve();
        // SQLite has one writer at a time.
        if (onServer) await inserted.promise;
        return before;
      });
      expect(await running).toBe(3);
      await insertion;
      expect((await stored(own)).length).toBe(4);
    });

    it('an insert alone is done once when the answer to its COMMIT is lost, also while that is under way', async () => {
      nextCommits(host.dataSource, 'unheard');
      await orders.in(own).insert({ title: 'unheard', amount: 0 });
      const { dataSource } = host;
      const create = dataSource.createQueryRunner.bind(dataSource);
      let committing: Promise<void> | undefined;
      dataSource.createQueryRunner = (mode) => {
        dataSource.createQueryRunner = create;
        const runner = create(mode);
        const [commit, release] = [runner.commitTransaction.bind(runner), runner.release.bind(runner)];
        runner.rollbackTransaction = runner.release = () => Promise.resolve();
        runner.commitTransaction = () => {
          const triedAgain = onServer ? until(() => isWaitingForLock(dataSource)) : Promise.resolve();
          committing = triedAgain.then(commit).then(release);
          return Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
        };
        return runner;
      };
      const orderId = (await orders.in(own).insert({ title: 'under way', amount: 0 }))!;
      await committing;
      expect(titles(await stored(own))).toEqual(['a', 'b', 'c', 'unheard', 'under way']);
      expect(await orders.in(own).findOne({ orderId })).toMatchObject({ title: 'under way' });
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
