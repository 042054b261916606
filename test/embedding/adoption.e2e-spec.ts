import {
  ChangeFeed,
  DeptAdoption,
  DeptCreated,
  DeptHistory,
  DeptService,
  DomainEvents,
  TenantryModule,
  TenantryTransaction,
  toAdoptedDept,
  type AdoptedDept,
  type Refusal,
} from '../../src/index';
import { HeaderResolver, Host, system } from '../support/host';
import { OrderEntity } from '../support/host-tables';
import { aTenantRow, deptRow } from '../support/seeds';

/** As RuoYi's own installation fills it, and as drivers give it: a BIGINT comes as a text on some. */
const SYS_DEPT = [
  ['101', '100', '0,100', '深圳总公司', 1, '若依', '15888888888', 'ry@qq.com', '0', '0'],
  ['100', '0', '0', '若依科技', 0, '若依', '15888888888', 'ry@qq.com', '0', '0'],
  ['103', '101', '0,100,101', '研发部门', 1, '若依', null, '', '0', '0'],
  ['104', '101', '0,100,101', '市场部门', 2, null, '15888888888', 'ry@qq.com', '1', '0'],
  ['105', '101', '0,100,101', '旧部门', 3, null, null, null, '0', '2'],
].map(([dept_id, parent_id, ancestors, dept_name, order_num, leader, phone, email, status, del_flag]) => {
  const made = { create_by: 'admin', create_time: '2020-05-17 09:30:00' };
  const changed = {
    update_by: dept_id === '103' ? 'ry' : '',
    update_time: dept_id === '103' ? '2021-06-01 08:00:00' : null,
  };
  const place = { dept_id, parent_id, ancestors, dept_name, order_num };
  return { ...place, leader, phone, email, status, del_flag, ...made, ...changed };
});

describe('the adoption of departments that a platform has already', () => {
  let host: Host;
  let adoption: DeptAdoption;
  let tenantId: string;
  /** Ids of a test: each tenant has others. */
  let base = 1_000_000;

  beforeAll(async () => {
    host = await Host.start({
      imports: [TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' })],
    });
    adoption = host.app.get(DeptAdoption);
  });
  beforeEach(async () => {
    tenantId = await aTenantRow(host.dataSource);
    base += 1000;
  });
  afterAll(() => host.stop());

  const sysDept = () =>
    SYS_DEPT.map((row) => toAdoptedDept(row)).map((dept) => {
      const moved = (id: unknown) => (id === '0' ? id : String(base + Number(id)));
      return { ...dept, deptId: moved(dept.deptId), parentId: moved(dept.parentId) };
    });
  const run = (rows: Iterable<AdoptedDept> | AsyncIterable<AdoptedDept>) =>
    adoption.run(system(tenantId), rows);
  const get = async (deptId: number) =>
    (await host.as({ tenantId }).get(`/system/dept-api/${deptId}`)).body.data;
  const count = async () =>
    ((await host.as({ tenantId }).get('/system/dept-api')).body.data as { rows: object[] }).rows.length;
  const create = async (tenant: string) =>
    host.app.get(DeptService).create(system(tenant), { deptName: 'new' });
  const problemsOf = async (rows: Iterable<AdoptedDept>): Promise<string[]> => {
    const refusal = (await run(rows).then(
      () => undefined,
      (error: unknown) => error,
    )) as Refusal;
    expect([refusal.getStatus(), refusal.row.reason]).toEqual([400, 'INVALID_INPUT']);
    expect(await count()).toBe(0);
    return refusal.details.fields!.map(({ id, line, field, message }) => {
      const name = typeof id === 'number' ? id - base : (id ?? `line ${line}`);
      return `${name}: ${field} ${message.en}`;
    });
  };

  it("departments of RuoYi's table keep their ids, parents, order and dates, and get their paths", async () => {
    expect(await run(sysDept())).toEqual({ adopted: 4, leftOut: 1 });
    expect(await get(base + 103)).toEqual({
      ...{ deptId: base + 103, parentId: base + 101, ancestors: `0,${base + 100},${base + 101}` },
      ...{
        deptName: '研发部门',
        orderNum: 1,
        leader: '若依',
        phone: null,
        email: '',
        status: '0',
        delFlag: '0',
        tenantId,
      },
      ...{
        createBy: 'admin',
        createTime: '2020-05-17 09:30:00',
        updateBy: 'ry',
        updateTime: '2021-06-01 08:00:00',
      },
    });
    expect(await get(base + 104)).toMatchObject({ status: '1', updateBy: '', updateTime: null });
    const tree = (await host.as({ tenantId }).get('/system/dept-api/tree')).body.data;
    const node = (id: number, ...children: object[]) => ({ deptId: base + id, children });
    expect(tree).toMatchObject({ rows: [node(100, node(101, node(103), node(104)))] });
  });

  it('adopted departments are in the journal, parents first, by who adopted them, and can be changed', async () => {
    const ctx = system(tenantId);
    const created: number[] = [];
    const stop = host.app.get(DomainEvents).on(DeptCreated, ({ deptId }) => created.push(deptId - base));
    await run(sysDept());
    stop();
    expect(created).toEqual([100, 101, 103, 104]);
    const { rows } = await host.app.get(ChangeFeed).since(ctx, undefined, { kinds: ['dept'] });
    expect(rows.map(({ operation, id, by }) => [operation, Number(id) - base, by])).toEqual(
      created.map((id) => ['created', id, 'system']),
    );
    expect(rows.at(-2)).toMatchObject({ after: { createBy: 'admin', createTime: '2020-05-17 09:30:00' } });
    await host.as({ tenantId }).delete(`/system/dept-api/${base + 104}`);
    const before = await host.app.get(DeptHistory).at(ctx, rows.at(-1)!.version);
    expect(await before.get(base + 104)).toMatchObject({ deptName: '市场部门', createBy: 'admin' });
  });

  it('ids of new departments, in this tenant and in others, go on after the greatest adopted one', async () => {
    const far = 2 ** 40 + base;
    for (const top of [base + 900, far]) {
      const other = await aTenantRow(host.dataSource);
      tenantId = await aTenantRow(host.dataSource);
      await run(
        [
          { deptId: top, deptName: 'last' },
          { deptId: base + (top % 7), parentId: top },
        ].reverse(),
      );
      expect([await create(other), await create(tenantId)].map((id) => id > top && id < top + 10)).toEqual([
        true,
        true,
      ]);
    }
    base = far;
  });

  it('departments that others create meanwhile get ids of their own', async () => {
    const others = await Promise.all([1, 2, 3].map(() => aTenantRow(host.dataSource)));
    const next = (await create(others[0]!)) + 1;
    base = next;
    const rows = Array.from({ length: 300 }, (_, n) => ({
      deptId: next + 20 + n,
      parentId: n < 9 ? 0 : next + 20,
    }));
    const made = others.map(async (other) => {
      const ids: number[] = [];
      for (let n = 0; n < 10; n += 1) ids.push(await create(other));
      return ids;
    });
    const adopted = await run(rows).catch((error: unknown) =>
      (error as Refusal).details.fields?.map(({ message }) => message.en),
    );
    const ids = (await Promise.all(made)).flat();
    expect(new Set(ids).size).toBe(30);
    // Whoever was first: no id is given twice, and what was taken is said.
    if (Array.isArray(adopted)) expect(adopted).toContain('is the id of a department that exists already');
    else expect(adopted).toEqual({ adopted: 300, leftOut: 0 });
  });

  it('an adoption names every department that breaks a rule, and adopts none', async () => {
    const row = (id: number, more: Partial<AdoptedDept> = {}) => ({ deptId: base + id, ...more });
    const under = (id: number, parent: number) => row(id, { parentId: base + parent });
    expect(
      await problemsOf([
        row(1, { deptName: 'x'.repeat(65) }),
        row(2, { email: 'nobody', status: '7', orderNum: 2 ** 31 }),
        row(3, { createTime: new Date(NaN), updateTime: '2020-02-30', createBy: 'x'.repeat(65) }),
        row(3),
        { deptId: 'x' },
        { deptId: '9007199254740993' },
        { deptId: base },
        { deptId: null as unknown as number },
        row(4, { parentId: -1, delFlag: '1' }),
        under(5, 99),
        under(6, 5),
        under(7, 8),
        under(8, 7),
        under(9, 7),
        under(10, 10),
        row(11, { deptName: { length: 1 } as unknown as string }),
      ]),
    ).toEqual([
      '1: deptName must be text of at most 64 characters',
      '2: orderNum must be an integer from -2147483648 to 2147483647',
      '2: email must be an e-mail address of at most 100 characters',
      "2: status must be '0' or '1'",
      '3: createBy must be text of at most 64 characters',
      '3: createTime must be a time',
      '3: updateTime must be a time',
      '3: deptId is the id of two departments',
      'x: deptId must be an integer from 1 to 2^52',
      '9007199254740993: deptId must be an integer from 1 to 2^52',
      'line 8: deptId must be an integer from 1 to 2^52',
      '4: parentId must be the id of a department, or 0',
      "4: delFlag must be '0' or '2'",
      '11: deptName must be text of at most 64 characters',
      `5: parentId is ${base + 99}, which is deleted or missing`,
      '7: parentId makes the department its own ancestor',
      '8: parentId makes the department its own ancestor',
      '10: parentId makes the department its own ancestor',
    ]);
    const chain = Array.from({ length: 66 }, (_, n) => ({
      deptId: base + n + 1,
      parentId: n === 0 ? 0 : base + n,
    }));
    expect(await problemsOf(chain)).toEqual(['65: parentId puts the department below level 64']);
    const many = Array.from({ length: 3000 }, (_, n) => ({ deptId: base + n, status: 'x' }));
    expect(await problemsOf(many)).toHaveLength(1000);
  });

  it('a column that is named and not there is refused, not taken for one without values', () => {
    const row = { id: 1, parent_id: 0, deleted_at: null };
    expect(() => toAdoptedDept(row, { deptId: 'id', delFlag: 'deletedat' })).toThrow(
      "There is no column 'deletedat'. There are: id, parent_id, deleted_at.",
    );
    expect(() => toAdoptedDept(row)).toThrow("There is no column 'dept_id': name the one for deptId.");
    expect(toAdoptedDept(row, { deptId: 'id' })).toMatchObject({ deptId: 1, parentId: 0 });
  });

  it('an adoption below a deleted department, or with ids that any tenant has, is refused by name', async () => {
    const [, ...withoutTop] = sysDept().map((dept) =>
      Number(dept.deptId) === base + 100 ? { ...dept, delFlag: '2' } : dept,
    );
    const first = sysDept()[0]!;
    expect(await problemsOf([first, ...withoutTop])).toEqual([
      `101: parentId is ${base + 100}, which is deleted or missing`,
    ]);
    const other = await aTenantRow(host.dataSource);
    await adoption.run(system(other), [{ deptId: base + 103 }, { deptId: base + 104 }]);
    await host.as({ tenantId: other }).delete(`/system/dept-api/${base + 104}`);
    const taken = 'deptId is the id of a department that exists already';
    expect(await problemsOf(sysDept())).toEqual([`103: ${taken}`, `104: ${taken}`]);
    expect((await deptRow(host.dataSource, base + 103))?.tenantId).toBe(other);
  });

  it('only a tenant without departments adopts any, a dry run adopts none, and deleted ones do not count', async () => {
    const ctx = system(tenantId);
    expect(await adoption.run(ctx, sysDept(), { dryRun: true })).toEqual({ adopted: 4, leftOut: 1 });
    expect(await count()).toBe(0);
    const deptId = await create(tenantId);
    await expect(run(sysDept())).rejects.toMatchObject({
      status: 409,
      row: { reason: 'DEPT_TREE_NOT_EMPTY' },
    });
    await host.as({ tenantId }).delete(`/system/dept-api/${deptId}`);
    async function* oneByOne() {
      for (const dept of sysDept()) yield await Promise.resolve(dept);
    }
    expect(await run(oneByOne())).toEqual({ adopted: 4, leftOut: 1 });
    await expect(run([])).rejects.toMatchObject({ row: { reason: 'DEPT_TREE_NOT_EMPTY' } });
  });

  it('an adoption in a transaction of the host happens with its own rows, or not at all', async () => {
    const transaction = host.app.get(TenantryTransaction);
    const adoptWith = (deptId: number) =>
      transaction.run(system(tenantId), async (unit) => {
        const report = await unit.deptAdoption.run(sysDept());
        await unit.rows(OrderEntity).insert({ title: 'adopted', amount: report.adopted });
        await unit.depts.get(deptId);
        return [report.adopted, await unit.depts.idsBelow(base + 101)];
      });
    await expect(adoptWith(base + 999)).rejects.toMatchObject({ row: { reason: 'DEPT_NOT_FOUND' } });
    expect([await count(), await host.dataSource.manager.countBy(OrderEntity, { tenantId })]).toEqual([0, 0]);
    expect(await adoptWith(base + 103)).toEqual([4, [101, 103, 104].map((id) => base + id)]);
    expect(await count()).toBe(4);
  });

  it('idsBelow gives a department and all below it, and is a 404 for one of another tenant', async () => {
    await run(sysDept());
    const depts = host.app.get(DeptService);
    const ctx = system(tenantId);
    const ids = (...all: number[]) => all.map((id) => base + id);
    expect(await depts.idsBelow(ctx, base + 100)).toEqual(ids(100, 101, 103, 104));
    expect(await depts.idsBelow(ctx, base + 104)).toEqual(ids(104));
    await host.as({ tenantId }).delete(`/system/dept-api/${base + 104}`);
    expect(await depts.idsBelow(ctx, base + 101)).toEqual(ids(101, 103));
    const other = system(await aTenantRow(host.dataSource));
    for (const [who, id] of [
      [other, base + 100],
      [ctx, base + 104],
      [ctx, base + 999],
      [ctx, 0],
    ] as const)
      await expect(depts.idsBelow(who, id)).rejects.toMatchObject({
        status: 404,
        row: { reason: 'DEPT_NOT_FOUND' },
      });
  });
});
