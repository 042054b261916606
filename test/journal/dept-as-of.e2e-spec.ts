import fc from 'fast-check';
import { aDept, type ApiClient } from '../../src/server/testing';
import { Chance } from '../support/chance';
import { SEEDED, times } from '../support/long-run';
import { aTenantRow, deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';
const RUNS = times(24, 4);
const STEPS = times(25, 15);
/** Programs that run side by side, each in a tenant of its own. */
const LANES = 4;
/** Departments that are older than the journal. */
const OLD = 3;

interface Dept {
  readonly parentId: number;
  readonly deptName: string;
  readonly orderNum: number;
  readonly leader: string | null;
}
type State = ReadonlyMap<number, Dept>;
interface Node extends Dept {
  readonly deptId: number;
  readonly ancestors: string;
  readonly hasChildren: boolean;
  /** Only in trees. */
  readonly children?: readonly Node[];
}

/** Departments are named by their number in the program, because ids are not known before it runs. */
const dept = fc.nat({ max: 12 });
const name = fc.constantFrom('a', 'b', 'c', '研发部');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), under: dept, name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('update' as const), dept, name }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), dept, under: dept, name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), dept, subtree: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('restore' as const), dept, under: fc.option(dept) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('order' as const), under: dept }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('import' as const), name }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** The departments as a program has made them, kept as plainly as can be, and how they were at each version. */
class Model {
  readonly ids: number[] = [];
  readonly past = new Map<number, State>();
  #deleted = new Map<number, Dept>();
  #live = new Map<number, Dept>();
  readonly #tops = new Map<number, number | null>();

  idOf(number: number | null): number {
    return number === null || number === 0 ? 0 : (this.ids[number - 1] ?? 900_000_000 + number);
  }

  get live(): State {
    return this.#live;
  }

  deleted(id: number): Dept | undefined {
    return this.#deleted.get(id);
  }

  set(id: number, values: Partial<Dept>): void {
    if (!this.ids.includes(id)) this.ids.push(id);
    const before = this.#live.get(id) ?? this.#deleted.get(id) ?? NEW;
    this.#deleted.delete(id);
    this.#live.set(id, { ...before, ...values });
  }

  /** With a top: everything below it as well, which is restored with it. */
  delete(id: number, top: number | null): void {
    for (const [child, { parentId }] of [...this.#live]) if (parentId === id) this.delete(child, top);
    this.#deleted.set(id, this.#live.get(id)!);
    this.#live.delete(id);
    this.#tops.set(id, top);
  }

  restore(id: number, values: Partial<Dept>): void {
    const top = this.#tops.get(id);
    for (const [child, { parentId }] of [...this.#deleted])
      if (parentId === id && top != null && this.#tops.get(child) === top) this.restore(child, {});
    this.#tops.delete(id);
    this.set(id, values);
  }

  remember(version: number): void {
    this.past.set(version, new Map(this.#live));
  }
}

const NEW: Dept = { parentId: 0, deptName: '', orderNum: 0, leader: null };

/**
 * Seen to fail when the latest entry wins over the earliest, when departments that have left a parent are not looked for, and
 * when what has come to a parent since counts as its child.
 */
describe('departments at a version', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });

  it(`departments at a version are those of a plain model after that version (${RUNS} programs of ${STEPS} steps)`, async () => {
    const program = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' });
    const lane = (_: unknown, n: number) =>
      fc.assert(fc.asyncProperty(program, runProgram), {
        numRuns: RUNS / LANES,
        ...(SEEDED.seed !== undefined && { seed: SEEDED.seed + n }),
      });
    await Promise.all(Array.from({ length: LANES }, lane));
  });

  it('departments at a version stay the same while others change the tree', async () => {
    const tenantId = await aTenantRow(service.dataSource);
    const api = service.as({ tenantId });
    const ids: number[] = [];
    for (let n = 0; n < 20; n += 1)
      ids.push(await aDept(api, { parentId: ids[Math.floor(n / 3) - 1] ?? 0, deptName: `${n}` }));
    const version = await versionOf(tenantId);
    const paths = [`/tree?asOf=${version}`, `/tree?depth=2&asOf=${version}`, `/${ids[19]}?asOf=${version}`];
    const before = await Promise.all(paths.map(async (path) => (await api.get(PATH + path)).text));
    const chance = new Chance(SEEDED.seed ?? 1);
    let isWriting = true;
    const write = async () => {
      for (let n = 0; n < times(400, 25); n += 1) {
        const [deptId, parentId] = [chance.pick(ids), chance.pick([0, ...ids])];
        const kind = chance.below(4);
        if (kind < 2) await api.patch(`${PATH}/${deptId}`, { parentId, deptName: `${n}` });
        else if (kind === 2) await api.delete(`${PATH}/${deptId}`);
        else await api.post(`${PATH}/${deptId}/restore`, { parentId });
      }
    };
    const read = async () => {
      while (isWriting)
        for (const [at, path] of paths.entries()) expect((await api.get(PATH + path)).text).toBe(before[at]);
    };
    const reading = [read(), read()];
    await Promise.all([write(), write(), write()]).finally(() => (isWriting = false));
    await Promise.all(reading);
  });

  async function runProgram(program: readonly Step[]): Promise<void> {
    const tenantId = await aTenantRow(service.dataSource);
    const api = service.as({ tenantId });
    const model = new Model();
    await addOldRows(tenantId, api, model);
    const trees = new Map<number, string>();
    const remember = async () => {
      const version = await versionOf(tenantId);
      model.remember(version);
      trees.set(version, (await api.get(`${PATH}/tree`)).text);
    };
    await remember();
    for (const each of program) {
      await runStep(api, model, each);
      await remember();
    }
    for (const [version, state] of model.past) await expectState(api, version, state, model.ids);
    // What the model leaves out: who and when.
    for (const [version, tree] of trees)
      expect([version, (await api.get(`${PATH}/tree?asOf=${version}`)).text]).toEqual([version, tree]);
  }

  async function addOldRows(tenantId: string, api: ApiClient, model: Model): Promise<void> {
    const place = { tenantId, parentId: 0, ancestors: '0', depth: 1 };
    await deptRows(service.dataSource, OLD, (n) => ({ ...place, deptName: `old ${n}` }));
    const { rows } = (await api.get(PATH)).body.data as { rows: Node[] };
    for (const { deptId, deptName } of rows) model.set(deptId, { deptName });
  }

  async function versionOf(tenantId: string): Promise<number> {
    const sql = `SELECT tree_ver AS version FROM tenantry_tenant WHERE tenant_id = '${tenantId}'`;
    const [row] = await service.dataSource.query<{ version: string | number }[]>(sql);
    return Number(row!.version);
  }
});

async function runStep(api: ApiClient, model: Model, each: Step): Promise<void> {
  if (each.kind === 'create') {
    const values = { parentId: model.idOf(each.under), deptName: each.name };
    const answer = await api.post(PATH, values);
    if (answer.status === 200) model.set(Number(answer.headers.location!.split('/').at(-1)), values);
  } else if (each.kind === 'update') {
    const deptId = model.idOf(each.dept);
    const values = { deptName: each.name, leader: each.name, orderNum: each.dept };
    const answer = await api.put(PATH, { deptId, ...values });
    if (answer.status === 200) model.set(deptId, values);
  } else if (each.kind === 'move') {
    const [deptId, parentId] = [model.idOf(each.dept), model.idOf(each.under)];
    const answer = await api.patch(`${PATH}/${deptId}`, { parentId, deptName: each.name });
    if (answer.status === 200) model.set(deptId, { parentId, deptName: each.name });
  } else if (each.kind === 'delete') {
    const deptId = model.idOf(each.dept);
    const { status } = await api.delete(`${PATH}/${deptId}?subtree=${each.subtree}`);
    if (status === 200) model.delete(deptId, each.subtree ? deptId : null);
  } else if (each.kind === 'restore') {
    const deptId = model.idOf(each.dept);
    const given = each.under === null ? {} : { parentId: model.idOf(each.under) };
    const { status, refusal } = await api.post(`${PATH}/${deptId}/restore`, given);
    const { parentId } = { ...model.deleted(deptId), ...given };
    expect(status === 200 ? null : refusal.reason).toBe(judgeRestore(model, deptId, parentId));
    if (status === 200) model.restore(deptId, given);
  } else if (each.kind === 'order') {
    const parentId = model.idOf(each.under);
    const deptIds = [...model.live].filter(([, row]) => row.parentId === parentId).map(([id]) => id);
    const answer = await api.put(`${PATH}/order`, { parentId, deptIds: deptIds.reverse() });
    if (answer.status !== 200) return;
    for (const [at, id] of deptIds.entries()) model.set(id, { orderNum: at + 1 });
  } else {
    const deptName = `imported ${each.name}`;
    const line = JSON.stringify({ path: deptName, orderNum: 9, leader: each.name });
    const type = { 'content-type': 'application/x-ndjson' };
    const answer = await api.send('POST', `${PATH}/import`, `${line}\n`, type);
    expect(answer.status).toBe(200);
    // It is changed when there is one at the top level, and created otherwise.
    const { rows } = (await api.get(`${PATH}?parentId=0&limit=500`)).body.data as { rows: Node[] };
    const [first] = rows.filter((row) => row.deptName === deptName).sort((a, b) => a.deptId - b.deptId);
    model.set(first!.deptId, { deptName, parentId: 0, orderNum: 9, leader: each.name });
  }
}

function judgeRestore(model: Model, deptId: number, parentId: number | undefined): string | null {
  if (model.live.has(deptId)) return 'NOT_DELETED';
  if (!model.deleted(deptId)) return 'DEPT_NOT_FOUND';
  return parentId === 0 || model.live.has(parentId!) ? null : 'PARENT_NOT_FOUND';
}

async function expectState(
  api: ApiClient,
  version: number,
  state: State,
  ids: readonly number[],
): Promise<void> {
  const tree = (await api.get(`${PATH}/tree?asOf=${version}`)).body.data as { rows: Node[] };
  expect([version, tree.rows.map(plain)]).toEqual([version, nodesBelow(state, 0, '0')]);
  const withoutChildren = (node: Node): Node => ({ ...node, children: [] });
  const top = (await api.get(`${PATH}/tree?asOf=${version}&depth=1`)).body.data as { rows: Node[] };
  expect(top.rows.map(plain)).toEqual(nodesBelow(state, 0, '0').map(withoutChildren));
  for (const id of ids) {
    const { status, body } = await api.get(`${PATH}/${id}?asOf=${version}`);
    expect([version, id, status]).toEqual([version, id, state.has(id) ? 200 : 404]);
    if (status === 200) expect(body.data).toMatchObject({ ...state.get(id), ancestors: pathTo(state, id) });
  }
  const [parentId = 0] = ids.filter((id) => state.has(id)).slice(version % 3);
  const pages: Node[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = `parentId=${parentId}&limit=1&asOf=${version}${cursor && `&cursor=${cursor}`}`;
    const page = (await api.get(`${PATH}?${query}`)).body.data as { rows: Node[]; nextCursor: string | null };
    pages.push(...page.rows);
    cursor = page.nextCursor;
  }
  const path = parentId === 0 ? '0' : `${pathTo(state, parentId)},${parentId}`;
  const children = nodesBelow(state, parentId, path).map(withoutChildren);
  expect(pages.map(plain)).toEqual(children);
}

function pathTo(state: State, id: number): string {
  const { parentId } = state.get(id)!;
  return parentId === 0 ? '0' : `${pathTo(state, parentId)},${parentId}`;
}

function nodesBelow(state: State, parentId: number, ancestors: string): Node[] {
  const own = [...state].filter(([, row]) => row.parentId === parentId);
  own.sort(([a, first], [b, second]) => first.orderNum - second.orderNum || a - b);
  return own.map(([deptId, row]) => {
    const children = nodesBelow(state, deptId, `${ancestors},${deptId}`);
    return { ...row, deptId, ancestors, hasChildren: children.length > 0, children };
  });
}

function plain(node: Node): Node {
  const { deptId, parentId, ancestors, deptName, orderNum, leader, hasChildren, children } = node;
  return {
    parentId,
    deptName,
    orderNum,
    leader,
    deptId,
    ancestors,
    hasChildren,
    children: (children ?? []).map(plain),
  };
}
