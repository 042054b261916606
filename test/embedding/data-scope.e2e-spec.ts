import { Brackets, Not, type SelectQueryBuilder } from 'typeorm';
import {
  DataScopes,
  DeptService,
  RequestContext,
  tenantBoundToken,
  TenantryModule,
  TenantryTransaction,
  type DataScope,
  type DataScopePart,
  type TenantBoundRepository,
  type TenantRows,
} from '../../src/index';
import { Chance, faultsSeed } from '../support/chance';
import { HeaderResolver, Host, system } from '../support/host';
import { NoteEntity, TaskEntity } from '../support/host-tables';
import { times } from '../support/long-run';
import { aTenantRow } from '../support/seeds';

type Dept = 'company' | 'north' | 'northShop' | 'south' | 'southShop';

const below = (...deptIds: number[]): DataScopePart => ({ kind: 'depts', deptIds, below: true });
const only = (...deptIds: number[]): DataScopePart => ({ kind: 'depts', deptIds, below: false });
const OWN: DataScopePart = { kind: 'own' };

describe('a data scope', () => {
  let host: Host;
  let depts: DeptService;
  let scopes: DataScopes;
  let transaction: TenantryTransaction;
  let tasks: TenantBoundRepository<TaskEntity>;
  let notes: TenantBoundRepository<NoteEntity>;
  let tenantId: string;
  let whole: RequestContext;
  let id: Record<Dept, number>;

  beforeAll(async () => {
    host = await Host.start({
      imports: [
        TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' }),
        TenantryModule.forFeature([TaskEntity, NoteEntity]),
      ],
    });
    depts = host.app.get(DeptService);
    scopes = host.app.get(DataScopes);
    transaction = host.app.get(TenantryTransaction);
    tasks = host.app.get(tenantBoundToken(TaskEntity));
    notes = host.app.get(tenantBoundToken(NoteEntity));
  });
  afterAll(() => host.stop());
  beforeEach(async () => {
    tenantId = await aTenantRow(host.dataSource);
    whole = system(tenantId);
    const company = await depts.create(whole, { deptName: 'company' });
    const [north, south] = [await aDept('north', company), await aDept('south', company)];
    id = {
      ...{ company, north, south },
      ...{ northShop: await aDept('northShop', north), southShop: await aDept('southShop', south) },
    };
    await tasks.in(whole).insert(...Object.entries(id).map(([title, deptId]) => ({ title, deptId })));
    await tasks.in(whole).insert({ title: 'none' }, { title: 'mine', createdBy: 'ann' });
    await tasks.in(whole).insert({ title: 'gone', deptId: id.southShop + 1_000_000 });
  });
  afterEach(() => {
    TaskEntity.saidByHook = {};
  });

  const aDept = (deptName: string, parentId: number) => depts.create(whole, { deptName, parentId });
  const caller = (...dataScope: DataScope) => as('ann', dataScope);
  const as = (username: string, dataScope?: DataScope, subject = username) =>
    RequestContext.of({ subject, username, tenantId, roles: ['member'], ...(dataScope && { dataScope }) });
  const titles = (rows: readonly TaskEntity[]) => rows.map(({ title }) => title).sort();
  const all = async () => titles(await tasks.in(whole).find());
  const outside = (...ids: number[]) => ({ response: { reason: 'OUTSIDE_DATA_SCOPE', ids } });

  const SCOPES: [string, () => DataScope, string[]][] = [
    ['nothing', () => [], []],
    ['what the caller owns', () => [OWN], ['mine']],
    ['a department', () => [only(id.north)], ['north']],
    ['a department and below', () => [below(id.north)], ['north', 'northShop']],
    ['all below the top', () => [below(id.company)], ['company', 'north', 'northShop', 'south', 'southShop']],
    [
      'several parts',
      () => [only(id.company), below(id.south), OWN],
      ['company', 'mine', 'south', 'southShop'],
    ],
    ['departments that do not exist', () => [below(7_000_001), only(7_000_002)], []],
    [
      'more departments than a request names',
      () => Array.from({ length: 50 }, (_, at) => below(id.north, ...many(at * 49))),
      ['north', 'northShop'],
    ],
  ];
  const many = (from: number) => Array.from({ length: 49 }, (_, at) => 8_000_000 + from + at);

  it.each(SCOPES)(
    'a data scope of %s limits what is read, inside of transactions and outside',
    async (_, scope, seen) => {
      const expectSeen = async (rows: TenantRows<TaskEntity>) => {
        expect(titles(await rows.find())).toEqual(seen);
        expect(titles(await rows.find({}, { order: { taskId: 'ASC' }, limit: 50 }))).toEqual(seen);
        expect(await rows.count()).toBe(seen.length);
        for (const title of await all()) {
          expect([title, await rows.exists({ title })]).toEqual([title, seen.includes(title)]);
          expect((await rows.findOne({ title }))?.title).toBe(seen.includes(title) ? title : undefined);
        }
        expect(titles(await rows.queryBuilder('t').getMany())).toEqual(seen);
        expect(await rows.queryBuilder('t').getCount()).toBe(seen.length);
      };
      const ctx = caller(...scope());
      await expectSeen(tasks.in(ctx));
      await tasks.transaction(ctx, (rows) => expectSeen(rows));
      await transaction.run(ctx, (unit) => expectSeen(unit.rows(TaskEntity)));
      expect(titles(await tasks.in(ctx.wholeTenant()).find())).toEqual(await all());
    },
  );

  it.each(SCOPES)('a data scope of %s limits what is changed and deleted', async (_, scope, seen) => {
    const ctx = caller(...scope());
    const before = await all();
    expect(await tasks.in(ctx).update({}, { title: 'changed' })).toBe(seen.length);
    const changed = await tasks.in(whole).find({ title: 'changed' });
    expect(changed).toHaveLength(seen.length);
    expect(await all()).toHaveLength(before.length);
    await tasks.transaction(ctx, async (rows) => {
      expect(await rows.delete({ title: Not('nothing') })).toBe(seen.length);
    });
    expect(await all()).toEqual(before.filter((title) => !seen.includes(title)));
    const withDeleted = tasks.in(ctx).queryBuilder('t').withDeleted();
    expect(await withDeleted.getCount()).toBe(seen.length);
    // A deleted row comes back by an update of its date, if it is in the scope.
    expect(await tasks.in(ctx).update({ deletedAt: Not(new Date(0)) }, { deletedAt: null })).toBe(
      seen.length,
    );
  });

  it('a principal without a data scope, with one of everything, and the system see the whole tenant', async () => {
    for (const ctx of [as('ann'), caller({ kind: 'all' }), caller({ kind: 'all' }, only(1)), whole])
      expect(titles(await tasks.in(ctx).find())).toEqual(await all());
  });

  it('a move and a deletion of a department are seen by the next statement', async () => {
    const ctx = caller(below(id.north));
    await depts.patch(whole, id.southShop, { parentId: id.northShop });
    expect(titles(await tasks.in(ctx).find())).toEqual(['north', 'northShop', 'southShop']);
    await transaction.run(ctx, async (unit) => {
      await unit.depts.patch(id.northShop, { parentId: id.south });
      expect(titles(await unit.rows(TaskEntity).find())).toEqual(['north']);
      expect(await unit.rows(TaskEntity).update({}, { title: 'x' })).toBe(1);
      await expect(unit.dataScopes.check([id.northShop])).rejects.toMatchObject(outside(id.northShop));
    });
    await depts.delete(whole, [id.north]);
    expect(await tasks.in(ctx).count()).toBe(0);
  });

  it('a page, a count and a change of a scope are one statement each, and send no ids but those of the scope', async () => {
    const sent: { query: string; parameters?: unknown }[] = [];
    const subscriber = { beforeQuery: (event: (typeof sent)[number]) => void sent.push(event) };
    host.dataSource.subscribers.push(subscriber);
    try {
      const rows = tasks.in(caller(below(id.company), OWN));
      await rows.find({}, { order: { taskId: 'ASC' }, limit: 50 });
      await rows.count();
      const onTasks = () => sent.splice(0).filter(({ query }) => query.includes('host_task'));
      const reads = onTasks();
      expect(reads).toHaveLength(2);
      for (const { parameters } of reads)
        expect((parameters as unknown[]).filter((each) => each === id.north)).toEqual([]);
      await rows.update({}, { title: 'x' });
      expect(onTasks()).toHaveLength(1);
    } finally {
      host.dataSource.subscribers.splice(host.dataSource.subscribers.indexOf(subscriber), 1);
    }
  });

  it('a row whose department is deleted is seen by its owner and by who sees all', async () => {
    await tasks.in(whole).update({ title: 'southShop' }, { createdBy: 'ann' });
    await depts.delete(whole, [id.southShop]);
    expect(await tasks.in(caller(below(id.company))).exists({ title: 'southShop' })).toBe(false);
    expect(await tasks.in(caller(only(id.southShop))).exists({ title: 'southShop' })).toBe(false);
    expect(await tasks.in(caller(OWN)).exists({ title: 'southShop' })).toBe(true);
    expect(await tasks.in(whole).exists({ title: 'southShop' })).toBe(true);
  });

  describe('new rows and changes', () => {
    const foreign = async () => {
      const other = await aTenantRow(host.dataSource);
      return depts.create(system(other), { deptName: 'other' });
    };

    it('a new row needs a department in the scope', async () => {
      const ctx = caller(below(id.north), only(id.company));
      for (const rows of [tasks.in(ctx)]) {
        await rows.insert({ title: 'a', deptId: id.northShop }, { title: 'b', deptId: id.company });
        const wrong = [id.south, id.southShop, 7_000_001, 3_000_000_000, await foreign()];
        for (const deptId of wrong) {
          const insert = rows.insert({ title: 'c', deptId: id.north }, { title: 'd', deptId });
          await expect(insert).rejects.toMatchObject(outside(deptId));
        }
        await expect(rows.insert({ title: 'c' })).rejects.toMatchObject(outside());
        await expect(rows.insert({ title: 'c', createdBy: 'ann' })).rejects.toMatchObject(outside());
      }
      expect(await tasks.in(whole).count({ title: 'c' })).toBe(0);
      await transaction.run(ctx, async (unit) => {
        const insert = unit.rows(TaskEntity).insert({ title: 'c', deptId: id.south });
        await expect(insert).rejects.toMatchObject(outside(id.south));
        await unit.rows(TaskEntity).insert({ title: 'e', deptId: id.north });
      });
      expect(await tasks.in(whole).count({ title: 'e' })).toBe(1);
    });

    it('who sees what they own makes rows that they own, in live departments of the tenant or in none', async () => {
      const rows = tasks.in(caller(OWN));
      await rows.insert({ title: 'a', createdBy: 'ann' }, { title: 'a', createdBy: 'ann', deptId: id.south });
      for (const row of [
        { createdBy: 'bob' },
        {},
        { deptId: id.north },
        { createdBy: 'ann', deptId: 7_000_001 },
      ])
        await expect(rows.insert({ title: 'b', ...row })).rejects.toMatchObject({
          response: { reason: 'OUTSIDE_DATA_SCOPE' },
        });
      expect(await rows.count({ title: 'a' })).toBe(2);
    });

    it('a change of the department needs one in the scope', async () => {
      const ctx = caller(below(id.north));
      expect(await tasks.in(ctx).update({ title: 'north' }, { deptId: id.northShop })).toBe(1);
      // Ids that the column cannot hold are outside as any other.
      for (const deptId of [id.south, 7_000_001, 3_000_000_000, await foreign(), null]) {
        const update = tasks.in(ctx).update({ title: 'north' }, { deptId });
        await expect(update).rejects.toMatchObject(outside(...(deptId === null ? [] : [deptId])));
      }
      const odd = { title: 'north', deptId: '1 OR 1=1' as never };
      await expect(tasks.in(ctx).update({ title: 'north' }, odd)).rejects.toMatchObject(outside());
      await expect(tasks.in(ctx).insert(odd)).rejects.toMatchObject(outside());
      // What is not in the scope is not changed, and is no reason to refuse.
      expect(await tasks.in(ctx).update({ title: 'south' }, { deptId: id.south })).toBe(0);
      expect(await tasks.in(whole).findOne({ title: 'north' })).toMatchObject({ deptId: id.northShop });
    });

    it('the owner of a row keeps its department, and does not give away what they see by that alone', async () => {
      await tasks.in(whole).update({ title: 'south' }, { createdBy: 'ann' });
      await tasks.in(whole).update({ title: 'north' }, { createdBy: 'ann' });
      const rows = tasks.in(caller(OWN, below(id.north)));
      expect(await rows.update({ title: 'south' }, { deptId: id.south, title: 'south' })).toBe(1);
      await expect(rows.update({ title: 'south' }, { deptId: id.company })).rejects.toMatchObject(
        outside(id.company),
      );
      await expect(rows.update({ title: 'south' }, { createdBy: 'bob' })).rejects.toMatchObject(outside());
      await expect(rows.update({}, { createdBy: null })).rejects.toMatchObject(outside());
      expect(await rows.update({ title: 'north' }, { createdBy: 'bob' })).toBe(1);
      expect(await rows.update({ title: 'south' }, { createdBy: 'bob', deptId: id.northShop })).toBe(1);
      expect(await rows.update({ title: 'mine' }, { createdBy: 'ann' })).toBe(1);
    });

    it('what hooks say of departments and owners is checked, too, and a transaction with a breach is not committed', async () => {
      const ctx = caller(OWN, below(id.north));
      TaskEntity.saidByHook = { createdBy: 'ann' };
      await tasks.in(ctx).insert({ title: 'hooked', deptId: id.north });
      await tasks.in(caller(OWN)).insert({ title: 'by hook', deptId: id.south });
      TaskEntity.saidByHook = { deptId: id.northShop };
      await tasks.in(caller(below(id.north))).insert({ title: 'by hook' });
      TaskEntity.saidByHook = {};
      await expect(
        tasks.in(caller(OWN)).insert({ title: 'no hook', deptId: id.south }),
      ).rejects.toMatchObject(outside(id.south));
      TaskEntity.saidByHook = { deptId: id.south };
      await expect(tasks.in(ctx).insert({ title: 'hooked', deptId: id.north })).rejects.toMatchObject(
        outside(id.south),
      );
      await expect(tasks.in(ctx).update({ title: 'north' }, { title: 'hooked' })).rejects.toMatchObject(
        outside(id.south),
      );
      const caught = transaction.run(ctx, async (unit) => {
        await unit
          .rows(TaskEntity)
          .insert({ title: 'hooked', deptId: id.north })
          .catch(() => undefined);
      });
      await expect(caught).rejects.toMatchObject(outside(id.south));
      TaskEntity.saidByHook = { createdBy: 'bob' };
      await expect(tasks.in(ctx).update({ title: 'north' }, { title: 'hooked' })).rejects.toMatchObject(
        outside(),
      );
      expect(await tasks.in(caller(below(id.north))).update({ title: 'north' }, { title: 'north' })).toBe(1);
      TaskEntity.saidByHook = { deptId: id.northShop };
      expect(await tasks.in(ctx).update({ title: 'north' }, { title: 'renamed' })).toBe(1);
      expect(await tasks.in(whole).count({ title: 'hooked' })).toBe(1);
    });
  });

  describe('owners that are numbers', () => {
    const numbered = (subject: string, ...more: DataScope) => as('ann', [OWN, ...more], subject);

    it('a caller owns the rows with their number, whatever the database takes for a number', async () => {
      await notes.in(whole).insert({ ownerNo: 'p12' }, { ownerNo: 'p0' }, {}, { deptId: id.north });
      expect(await notes.in(numbered('p12')).count()).toBe(1);
      for (const subject of ['p12abc', 'abc', '12', 'p12.0', `p${'9'.repeat(30)}`, 'p3000000000'])
        expect([subject, await notes.in(numbered(subject)).count()]).toEqual([
          subject,
          subject === 'p12.0' ? 1 : 0,
        ]);
      expect(await notes.in(numbered('pabc', below(id.north))).count()).toBe(1);
      expect(await notes.in(numbered('p12')).update({}, { taskId: 1 })).toBe(1);
      await notes.in(numbered('p7')).insert({ ownerNo: 'p7' });
      await expect(notes.in(numbered('p7')).insert({ ownerNo: 'p8' })).rejects.toMatchObject(outside());
    });

    it('a new row says its department by a relation, too', async () => {
      const rows = notes.in(caller(below(id.north)));
      await rows.insert({ dept: { deptId: id.northShop } as NoteEntity['dept'] & object });
      const insert = rows.insert({ dept: { deptId: id.south } as NoteEntity['dept'] & object });
      await expect(insert).rejects.toMatchObject(outside(id.south));
      const update = rows.update({}, { dept: { deptId: id.south } as NoteEntity['dept'] & object });
      await expect(update).rejects.toMatchObject(outside(id.south));
      expect(await rows.find()).toMatchObject([{ deptId: id.northShop }]);
    });
  });

  describe('relations and builders', () => {
    it('relations, eager ones and conditions on them find rows in the scope alone', async () => {
      const north = await tasks.in(whole).findOne({ title: 'north' });
      const south = await tasks.in(whole).findOne({ title: 'south' });
      for (const task of [north!, south!])
        await notes.in(whole).insert({ deptId: id.north, taskId: task.taskId });
      await notes.in(whole).insert({ deptId: id.south, taskId: north!.taskId });
      const ctx = caller(below(id.north));
      const found = await notes.in(ctx).find({}, { order: { noteId: 'ASC' } });
      expect(found.map(({ task }) => task?.title ?? null)).toEqual(['north', null]);
      expect(await notes.in(ctx).count({ task: { title: 'south' } })).toBe(0);
      const joined = tasks
        .in(ctx)
        .queryBuilder('t')
        .leftJoinAndSelect('t.notes', 'n')
        .orderBy('t.taskId')
        .take(5);
      const [first, ...rest] = await joined.getMany();
      expect([first!.notes!.length, rest.map(({ notes: own }) => own!.length)]).toEqual([1, [0]]);
    });

    type Builder = SelectQueryBuilder<TaskEntity>;
    const ATTACKS: [string, (t: Builder) => unknown][] = [
      ['nothing', (t) => t],
      ['where', (t) => t.where('1 = 1')],
      ['orWhere', (t) => t.where('t.taskId = 0').orWhere('1 = 1').orWhere('t.deptId IS NULL')],
      ['text with an OR', (t) => t.where('1 = 0 OR 1 = 1')],
      ['brackets', (t) => t.where(new Brackets((w) => w.where('1 = 1').orWhere('1 = 1'))).orWhere('1 = 1')],
      ['options of find', (t) => t.setFindOptions({ where: [{ title: Not('') }, { tenantId: Not('') }] })],
      [
        'parameters',
        (t) => t.orWhere('1 = 1').setParameters({ tenant: 'x', named: [1], top0: ',1,', owner: 'bob' }),
      ],
      ['a page with a join', (t) => t.leftJoinAndSelect('t.notes', 'n').orWhere('1 = 1').take(50).skip(0)],
      ['ids', (t) => t.where('1 = 0').orWhereInIds(Array.from({ length: 500 }, (_, at) => at))],
    ];

    it.each(ATTACKS)('a builder of rows does not leave the scope by %s', async (_, attack) => {
      const builder = tasks.in(caller(below(id.north), OWN)).queryBuilder('t');
      attack(builder);
      const seen = ['mine', 'north', 'northShop'];
      expect(titles(await builder.getMany())).toEqual(seen);
      expect(titles(await builder.clone().getMany())).toEqual(seen);
      expect((await builder.getManyAndCount())[1]).toBe(3);
    });

    it('subqueries and joins of a builder are limited, also where they are counted', async () => {
      const ctx = caller(below(id.north));
      const outer = tasks.in(ctx).queryBuilder('t').select('COUNT(*)', 'n');
      outer.where((sub) => `1 <= (${sub.subQuery().select('COUNT(*)').from(TaskEntity, 's').getQuery()})`);
      outer.addSelect(
        (sub) => sub.select('COUNT(*)').from(TaskEntity, 's').where("s.title = 'south' OR 1 = 1"),
        'inner',
      );
      const row = await outer.getRawOne<{ n: string; inner: string }>();
      expect([Number(row!.n), Number(row!.inner)]).toEqual([2, 2]);
      const cross = tasks.in(ctx).queryBuilder('t').innerJoin(TaskEntity, 'o', '1 = 1 OR 1 = 1');
      expect(await cross.select('COUNT(*)', 'n').getRawOne()).toMatchObject({
        n: expect.anything() as string,
      });
      expect(Number((await cross.getRawOne<{ n: string }>())!.n)).toBe(4);
    });

    const ON_TASKS = { dept: 't.deptId', owner: 't.createdBy', ownerIs: 'username' } as const;
    const selecting = () => host.dataSource.getRepository(TaskEntity).createQueryBuilder('t');

    it.each(ATTACKS)('a builder of the host does not leave an applied scope by %s', async (_, attack) => {
      for (const isBefore of [true, false]) {
        const builder = selecting();
        if (isBefore) attack(builder);
        expect(scopes.apply(caller(below(id.north), OWN), builder, ON_TASKS)).toBe(builder);
        if (!isBefore) attack(builder);
        const seen = ['mine', 'north', 'northShop'];
        expect(titles(await builder.getMany())).toEqual(seen);
        expect(titles(await builder.clone().getMany())).toEqual(seen);
        expect((await builder.getManyAndCount())[1]).toBe(3);
      }
    });

    it('a scope is applied to builders that update and delete, by properties and by names of columns', async () => {
      const ctx = caller(below(id.north));
      const { manager } = host.dataSource;
      const update = manager.createQueryBuilder().update(TaskEntity).set({ title: 'changed' });
      scopes.apply(ctx, update, { dept: 'deptId' }).where('1 = 0').orWhere('1 = 1');
      expect((await update.execute()).affected).toBe(2);
      const byName = manager.createQueryBuilder().update('host_task').set({ title: 'again' });
      scopes.apply(caller(OWN), byName, { dept: 'dept_id', owner: 'created_by', tenant: 'tenant_id' });
      expect((await byName.execute()).affected).toBe(1);
      const soft = manager.createQueryBuilder().softDelete().from(TaskEntity).where('1 = 1').orWhere('1 = 1');
      expect((await scopes.apply(caller(only(id.south)), soft, { dept: 'deptId' }).execute()).affected).toBe(
        1,
      );
      const remove = manager.createQueryBuilder().delete().from(TaskEntity).where('1 = 1').orWhere('1 = 1');
      expect((await scopes.apply(ctx, remove, { dept: 'deptId' }).execute()).affected).toBe(2);
      expect(await all()).toEqual(['again', 'company', 'gone', 'none', 'southShop']);
      const move = (from: RequestContext, values: object) =>
        scopes.apply(from, manager.createQueryBuilder().update(TaskEntity).set(values), {
          ...{ dept: 'deptId', owner: 'createdBy', ownerIs: 'username' },
        });
      const { company } = id;
      const top = caller(only(company), OWN);
      expect((await move(caller(only(company)), { deptId: id.south }).execute()).affected).toBe(0);
      expect((await move(caller(OWN), { createdBy: 'bob' }).execute()).affected).toBe(0);
      expect((await move(top, { createdBy: 'ann' }).execute()).affected).toBe(2);
      expect((await move(top, { deptId: company, createdBy: 'bob' }).execute()).affected).toBe(2);
      expect(() => move(top, { tenantId: '000000' })).toThrow('another tenant');
      expect(() => move(top, { deptId: () => '1' })).toThrow('SQL of an update');
      expect(() =>
        scopes.apply(top, manager.createQueryBuilder().update(TaskEntity), { dept: 'deptId' }),
      ).toThrow('after its set');
      const insert = manager.createQueryBuilder().insert().into(TaskEntity);
      expect(() => scopes.apply(ctx, insert as never, { dept: 'deptId' })).toThrow(
        'select, update or delete',
      );
    });

    it('a scope is applied twice, to a subquery, to a joined table, and to a table without an entity', async () => {
      const [north, south] = [caller(below(id.north)), caller(below(id.company))];
      const once = scopes.apply(north, selecting(), { dept: 't.deptId' });
      expect(once.getQuery().match(/tenantry_dept/g)).toHaveLength(1);
      const twice = scopes.apply(south, scopes.apply(north, selecting(), ON_TASKS), ON_TASKS);
      expect(titles(await twice.getMany())).toEqual(['north', 'northShop']);
      const outer = selecting();
      const inner = outer.subQuery().select('s.taskId').from(TaskEntity, 's');
      scopes.apply(north, inner, { dept: 's.deptId' });
      scopes.apply(south, outer, ON_TASKS).andWhere(`t.taskId IN ${inner.getQuery()}`);
      expect(titles(await outer.getMany())).toEqual(['north', 'northShop']);
      const { taskId } = (await tasks.in(whole).findOne({ title: 'north' }))!;
      await notes.in(whole).insert({ taskId, deptId: id.north }, { taskId, deptId: id.south });
      const joined = selecting()
        .leftJoinAndSelect('t.notes', 'n')
        .orWhere('1 = 1')
        .orderBy('t.taskId')
        .take(9);
      scopes.apply(north, joined, { dept: 'n.deptId' });
      const found = await joined.getMany();
      expect(found.map((task) => [task.title, task.notes!.length])).toEqual([['north', 1]]);
      const raw = host.dataSource.createQueryBuilder().select('t.title', 'title').from('host_task', 't');
      scopes.apply(caller(below(id.north), OWN), raw, {
        ...{ dept: 't.dept_id', owner: 't.created_by', ownerIs: 'username', tenant: 't.tenant_id' },
      });
      expect((await raw.getRawMany<TaskEntity>()).map(({ title }) => title).sort()).toEqual([
        ...['mine', 'north', 'northShop'],
      ]);
      const notesRaw = host.dataSource
        .createQueryBuilder()
        .select('n.note_id', 'id')
        .from('(SELECT * FROM host_note)', 'n');
      await notes.in(whole).insert({ ownerNo: 'p12' });
      const byNumber = { dept: 'n.dept_id', owner: 'n.owner_no', tenant: 'n.tenant_id' };
      for (const [subject, count] of [
        ['12', 1],
        ['12abc', 0],
      ] as const)
        expect(
          await scopes.apply(as('ann', [OWN], subject), notesRaw.clone(), byNumber).getRawMany(),
        ).toHaveLength(count);
    });

    it('an applied scope names the tenant, also of callers without a scope, and of all tables that are joined', async () => {
      const other = system(await aTenantRow(host.dataSource));
      await tasks.in(other).insert({ title: 'foreign' });
      const { taskId } = (await tasks.in(other).findOne({ title: 'foreign' }))!;
      await notes.in(whole).insert({ taskId, deptId: id.north });
      await notes.in(other).insert({ taskId: (await tasks.in(whole).findOne({ title: 'north' }))!.taskId });
      const joined = () => selecting().leftJoinAndSelect('t.notes', 'n').orderBy('t.taskId');
      for (const builder of [joined(), joined().take(99)]) {
        const rows = await scopes.apply(whole, builder, { dept: 'n.deptId' }).getMany();
        expect(titles(rows)).toEqual(await all());
        expect(rows.flatMap((row) => row.notes!)).toEqual([]);
      }
      const byNote = scopes.apply(caller(below(id.north)), joined(), { dept: 'n.deptId' });
      expect(await byNote.getManyAndCount()).toEqual([[], 0]);
      const cached = scopes.apply(whole, selecting().cache(true), ON_TASKS);
      expect(cached.expressionMap.cache).toBe(false);
      expect(titles(await scopes.apply(whole, selecting().orWhere('1 = 1'), ON_TASKS).getMany())).toEqual(
        await all(),
      );
    });

    it.each<[string, object, string]>([
      ['an alias that is not there', { dept: 'x.deptId' }, 'no alias'],
      ['a property that is no column', { dept: 't.nothing' }, 'no column'],
      ['SQL', { dept: 't.deptId) OR (1=1' }, 'no column'],
      ['a name without an alias', { dept: 'deptId' }, 'no alias'],
    ])('a scope with %s is refused', (_, columns, message) => {
      expect(() => scopes.apply(whole, selecting(), columns as never)).toThrow(message);
      expect(() => scopes.apply({} as never, selecting(), ON_TASKS)).toThrow('RequestContext');
    });
  });

  it('ids in requests are checked against the scope, and all ids of it are told', async () => {
    const ctx = caller(below(id.north), only(id.company), OWN);
    await scopes.check(ctx, [id.northShop, id.company, id.northShop]);
    await scopes.check(ctx, [String(id.north) as never]);
    await expect(scopes.check(ctx, [id.south, id.north, id.southShop])).rejects.toMatchObject(
      outside(id.south, id.southShop),
    );
    const foreign = system(await aTenantRow(host.dataSource));
    const other = await depts.create(foreign, { deptName: 'other' });
    const absent = (...ids: number[]) => ({ response: { reason: 'DEPT_NOT_FOUND', ids } });
    for (const each of [ctx, whole])
      await expect(scopes.check(each, [id.north, other, 7_000_001, id.south])).rejects.toMatchObject(
        absent(other, 7_000_001),
      );
    for (const odd of [NaN, 1.5, undefined as never])
      await expect(scopes.check(whole, [odd])).rejects.toMatchObject(absent());
    expect((await scopes.deptIds(ctx)).sort()).toEqual([id.company, id.north, id.northShop].sort());
    expect((await scopes.deptIds(caller(below(id.company, id.north)))).sort()).toEqual(
      Object.values(id).sort(),
    );
    expect([await scopes.deptIds(caller(OWN)), (await scopes.deptIds(whole)).length]).toEqual([[], 5]);
    expect(await scopes.idsBelow(ctx, id.south)).toEqual([id.south, id.southShop]);
  });

  it.each<[string, unknown]>([
    ['no list', { kind: 'all' }],
    ['a part of no kind', [{}]],
    ['an unknown kind', [{ kind: 'ALL' }]],
    ['ids as texts', [{ kind: 'depts', deptIds: ['1) OR (1=1'], below: true }]],
    ['ids that are no numbers', [{ kind: 'depts', deptIds: [NaN], below: true }]],
    ['an operator', [{ kind: 'depts', deptIds: Not(1), below: false }]],
    ['no word about what is below', [{ kind: 'depts', deptIds: [1] }]],
    ['too many departments', [{ kind: 'depts', deptIds: Array.from({ length: 51 }, () => 1), below: false }]],
    ['too many parts', Array.from({ length: 51 }, () => OWN)],
  ])('a principal whose data scope is %s is none', (_, dataScope) => {
    expect(() => as('ann', dataScope as DataScope)).toThrow('not a principal');
  });

  it('what a caller sees and changes is what a model of the tree says, whatever the scope, the tree and the operation', async () => {
    const chance = new Chance(faultsSeed('data scopes'));
    const parents = new Map<number, number>([
      [id.company, 0],
      [id.north, id.company],
      [id.south, id.company],
      [id.northShop, id.north],
      [id.southShop, id.south],
    ]);
    const isWithin = (deptId: number, top: number): boolean =>
      deptId === top || (parents.has(deptId) && isWithin(parents.get(deptId)!, top));
    const any = <T>(list: readonly T[]): T => chance.pick(list);
    const ids = () => [...parents.keys()];
    for (let at = 0; at < 8; at += 1) {
      const parent = any(ids());
      parents.set(await aDept(`d${at}`, parent), parent);
    }
    const model = (await tasks.in(whole).find()).map(({ taskId, deptId, createdBy }) => ({
      taskId,
      deptId,
      createdBy,
    }));
    for (let round = 0; round < times(500, 40); round += 1) {
      const scope = Array.from({ length: chance.below(4) }, () =>
        any<() => DataScopePart>([() => OWN, () => only(any(ids()), any(ids())), () => below(any(ids()))])(),
      );
      const ctx = caller(...scope);
      const holds = (deptId: number | null) =>
        deptId !== null &&
        parents.has(deptId) &&
        scope.some(
          (part) =>
            part.kind === 'depts' &&
            part.deptIds.some((top) => (part.below ? isWithin(deptId, top) : top === deptId)),
        );
      const owns = (owner: string | null) => owner === 'ann' && scope.includes(OWN);
      const sees = (row: (typeof model)[number]) => holds(row.deptId) || owns(row.createdBy);
      const rows = tasks.in(ctx);
      const found = (await rows.find()).map(({ taskId }) => taskId).sort((a, b) => a - b);
      expect(found).toEqual(model.filter(sees).map(({ taskId }) => taskId));
      const row = { deptId: any([null, ...ids()]), createdBy: any(['ann', 'bob', null]) };
      const refused = await rows.insert({ title: 'r', ...row }).then(
        (taskId) => {
          model.push({ taskId: taskId!, ...row });
          return false;
        },
        () => true,
      );
      expect(refused).toBe(!(holds(row.deptId) || owns(row.createdBy)));
      const target = any(model);
      const change = any<Partial<typeof row>>([{ deptId: row.deptId }, { createdBy: row.createdBy }, row]);
      const after = { ...target, ...change };
      const isBad =
        sees(target) &&
        !holds(after.deptId) &&
        (after.deptId !== target.deptId || ('createdBy' in change && !owns(after.createdBy)));
      const changed = await rows.update({ taskId: target.taskId }, change).catch(() => -1);
      expect(changed).toBe(isBad ? -1 : sees(target) ? 1 : 0);
      if (changed === 1) Object.assign(target, change);
      const [moved, to] = [any(ids()), any(ids())];
      if (!isWithin(to, moved)) {
        await depts.patch(whole, moved, { parentId: to });
        parents.set(moved, to);
      }
    }
  });

  it('moves that race with updates leave each row changed as its department stood', async () => {
    const ctx = caller(below(id.north));
    for (let round = 0; round < times(100, 6); round += 1) {
      await depts.patch(whole, id.southShop, { parentId: id.south });
      await tasks.in(whole).update({}, { title: 'before' });
      const [seen] = await Promise.all([
        tasks.transaction(ctx, async (rows) => {
          const count = await rows.count();
          expect(await rows.update({}, { title: 'after' })).toBe(count);
          return count;
        }),
        depts.patch(whole, id.southShop, { parentId: id.north }),
        tasks
          .in(ctx)
          .insert({ title: 'before', deptId: id.southShop })
          .catch(() => null),
      ]);
      expect(await tasks.in(whole).count({ title: 'after' })).toBe(seen);
      await tasks.in(whole).delete({ deptId: id.southShop });
      await tasks.in(whole).insert({ title: 'southShop', deptId: id.southShop });
    }
  });
});
