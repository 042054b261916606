import type { DataSource } from 'typeorm';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept, aTenant, aUser, type Answer, type ApiClient } from '../../src/server/testing';
import { AccountEntity } from '../../src/server/auth/account.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { Follower, type ChangeRow } from '../support/follower';
import { times } from '../support/long-run';
import { aTenantRow } from '../support/seeds';
import { onServer } from '../support/test-database';
import { tenantTreeProblems, treeProblems } from '../support/tree-check';
import { PAIRS, TwoServices } from '../support/two-services';
import { resendWhenBusy } from '../support/when-busy';

const DEPTS = '/system/dept-api';
const USERS = '/system/user-api';
const TENANTS = '/system/tenant-api';
/** SQLite has one writer, whatever the tenant. */
const LANES = onServer ? 4 : 1;
const DEPT_ROUNDS = times(200, 32);
const ROUNDS = times(200, 20);
const MANAGED_ROUNDS = times(240, 24);
/** Creates at once. */
const MANY = times(50, 20);

describe.each(PAIRS)('races from two processes: %s', (pair) => {
  let two: TwoServices;

  beforeAll(async () => {
    two = await TwoServices.start(pair);
  });
  afterAll(() => two.stop());

  describe('of structural writes of departments', () => {
    type Round = (left: ApiClient, right: ApiClient) => Promise<Answer[]>;

    /** Runs a race many times, in several tenants side by side; each answer must be one that a single caller could get. */
    async function race(round: Round, allowed: (string | null)[]): Promise<string[]> {
      const lane = async (): Promise<string[]> => {
        const tenantId = await aTenantRow(two.dataSource);
        const [left, right] = two.as({ tenantId });
        const outcomes: string[] = [];
        for (let n = 0; n < DEPT_ROUNDS / LANES; n += 1) {
          const answers = await round(left, right);
          const reasons = answers.map(({ status, refusal }) => (status === 200 ? null : refusal.reason));
          for (const reason of reasons) expect(allowed).toContain(reason);
          outcomes.push(reasons.join('|'));
        }
        expect(await treeProblems(two.dataSource, tenantId)).toEqual([]);
        return outcomes;
      };
      return (await Promise.all(Array.from({ length: LANES }, lane))).flat();
    }

    it('of two opposing moves of departments one wins', async () => {
      const outcomes = await race(
        async (left, right) => {
          const [a, b] = await Promise.all([aDept(left), aDept(right)]);
          return Promise.all([
            left.put(DEPTS, { deptId: a, parentId: b }),
            right.put(DEPTS, { deptId: b, parentId: a }),
          ]);
        },
        [null, 'DEPT_CYCLE'],
      );
      for (const outcome of new Set(outcomes)) expect(['|DEPT_CYCLE', 'DEPT_CYCLE|']).toContain(outcome);
    });

    it('when a child is added while its parent is deleted, one of them wins', async () => {
      const outcomes = await race(
        async (left, right) => {
          const parentId = await aDept(left);
          return Promise.all([left.post(DEPTS, { parentId }), right.delete(`${DEPTS}/${parentId}`)]);
        },
        [null, 'PARENT_NOT_FOUND', 'DEPT_HAS_CHILDREN'],
      );
      expect(outcomes).not.toContain('|');
    });

    it('when a department moves while its ancestor moves, both paths come out right', async () => {
      await race(
        async (left, right) => {
          const [top, other, third] = await Promise.all([aDept(left), aDept(right), aDept(left)]);
          const child = await aDept(left, { parentId: top });
          const grandchild = await aDept(left, { parentId: child });
          return Promise.all([
            left.put(DEPTS, { deptId: top, parentId: other }),
            right.put(DEPTS, { deptId: child, parentId: third }),
            right.post(DEPTS, { parentId: grandchild }),
          ]);
        },
        [null],
      );
    });

    it('when departments are deleted crosswise while others move under them, no orphan stays', async () => {
      await race(
        async (left, right) => {
          const [a, b, c, d] = await Promise.all([aDept(left), aDept(right), aDept(left), aDept(right)]);
          // Each process does its two in order, so the first two meet each other, and then the last two.
          return Promise.all([
            left.delete(`${DEPTS}/${a}`),
            right.put(DEPTS, { deptId: b, parentId: a }),
            left.put(DEPTS, { deptId: c, parentId: d }),
            right.delete(`${DEPTS}/${d}`),
          ]);
        },
        [null, 'DEPT_HAS_CHILDREN', 'PARENT_NOT_FOUND'],
      );
    });
  });

  /**
   * Seen to fail on SQLite when DeptService or AccountService looks at the part before its transaction instead of inside: of 24 rounds
   * six or more then accept a write to a department that has just moved away.
   */
  it('no write of a department administrator is accepted for what was outside its part when it was committed', async () => {
    const lane = async (): Promise<string[]> => {
      const tenantId = await aTenantRow(two.dataSource);
      const [left] = two.as({ tenantId, username: 'whole' });
      const root = await aDept(left);
      const elsewhere = await aDept(left);
      const part = { tenantId, username: 'part', roles: ['dept_admin'] as const, managedDeptIds: [root] };
      const [, right] = two.as(part);
      const outcomes: string[] = [];
      for (let n = 0; n < MANAGED_ROUNDS / LANES; n += 1) {
        const [from, to] = n % 3 === 0 ? [elsewhere, root] : [root, elsewhere];
        const dept = await aDept(left, { parentId: from });
        const [child, next] = [await aDept(left, { parentId: dept }), await aDept(left, { parentId: dept })];
        const write = [
          () => right.post(DEPTS, { parentId: child }),
          () => right.patch(`${DEPTS}/${dept}`, { leader: 'x' }),
          () => right.delete(`${DEPTS}/${child}`),
          () => right.patch(`${DEPTS}/${child}`, { parentId: next }),
          () => right.put(`${DEPTS}/order`, { parentId: dept, deptIds: [next, child] }),
          () => right.post(USERS, { username: `u${dept}`, password: 'a-long-password', deptId: child }),
        ][n % 6]!;
        const move = () => left.patch(`${DEPTS}/${dept}`, { parentId: to });
        const moving = n % 2 === 0 ? move() : null;
        const writing = write();
        expect((await (moving ?? move())).status).toBe(200);
        const { status, refusal } = await writing;
        expect([200, 403]).toContain(status);
        outcomes.push(status === 200 ? 'done' : refusal.reason);
      }
      const journal = await new Follower(left).catchUp(500);
      expect(writesOutside(journal.changes, 'part', root)).toEqual([]);
      return outcomes;
    };
    const outcomes = (await Promise.all(Array.from({ length: LANES }, lane))).flat();
    expect([...new Set(outcomes)].sort()).toEqual(['OUTSIDE_MANAGED_DEPTS', 'done']);
  });

  describe('of changes of tenants', () => {
    let dataSource: DataSource;
    let left: ApiClient;
    let right: ApiClient;

    beforeAll(() => {
      dataSource = two.dataSource;
      [left, right] = two.as({ roles: ['superadmin'] });
    });
    afterEach(async () => {
      expect(await tenantTreeProblems(dataSource)).toEqual([]);
    });

    /** Seeds below each other: the last is a child of the one before. */
    async function chain(length: number): Promise<TenantryTenant[]> {
      const made: TenantryTenant[] = [];
      for (let n = 0; n < length; n += 1) {
        const above = made.at(-1);
        const place = above && {
          tenantParent: above.tenantId,
          ancestors: `${above.ancestors},${above.tenantId}`,
          depth: above.depth + 1,
        };
        const tenantId = await aTenantRow(dataSource, place);
        made.push(await dataSource.manager.findOneByOrFail(TenantryTenant, { tenantId }));
      }
      return made;
    }

    const moved = (tenant: TenantryTenant, parent: TenantryTenant) => ({
      id: tenant.id,
      tenantName: 'moved',
      tenantParent: parent.tenantId,
    });

    it('of two opposing moves of tenants, far apart in the tree, one wins', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const [[a, a2], [b, b2]] = [await chain(2), await chain(2)];
        const answers = await Promise.all([
          left.put(TENANTS, moved(a!, n % 2 ? b! : b2!)),
          right.put(TENANTS, moved(b!, n % 2 ? a! : a2!)),
        ]);
        const reasons = answers.map(({ status, refusal }) => (status === 200 ? '' : refusal.reason)).sort();
        expect(reasons).toEqual(['', 'TENANT_CYCLE']);
      }
    });

    it('when a tenant is deleted while a child is created, one of them wins', async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const [parent] = await chain(1);
        const [created, deleted] = await Promise.all([
          left.post(TENANTS, { tenantName: 'child', tenantParent: parent!.tenantId }),
          right.delete(`${TENANTS}/${parent!.id}`),
        ]);
        expect([
          [200, 409],
          [404, 200],
        ]).toContainEqual([created.status, deleted.status]);
      }
    });

    it('when a tenant is deleted while it gets a department, none is left unseen in it', async () => {
      for (let n = 0; n < times(50, 20); n += 1) {
        const [tenant] = await chain(1);
        const user = two.services[0].as({ tenantId: tenant!.tenantId });
        const [made, deleted] = await Promise.all([
          user.post(DEPTS, {}),
          right.delete(`${TENANTS}/${tenant!.id}`),
        ]);
        expect(deleted.status).toBe(200);
        expect([200, 403]).toContain(made.status);
      }
      expect(await treeProblems(dataSource)).toEqual([]);
    });

    it('parallel creates of tenants all succeed, and their ids and codes all differ', async () => {
      const before = await dataSource.manager.count(TenantryTenant);
      const create = (api: ApiClient, tenantName: string): Promise<Answer> =>
        resendWhenBusy(() => api.post(TENANTS, { tenantName }));
      for (let round = 0; round < 4; round += 1) {
        const answers = await Promise.all(
          Array.from({ length: MANY }, (_, n) => create(n % 2 ? left : right, `${n}`)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: MANY }, () => 200));
        expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(MANY);
      }
      const rows = await dataSource.manager.find(TenantryTenant);
      expect(rows).toHaveLength(before + 4 * MANY);
      expect(new Set(rows.map(({ tenantId }) => tenantId)).size).toBe(rows.length);
    });

    it('departments of the platform go on while tenants are made', async () => {
      const answers = await Promise.all([
        ...Array.from({ length: 20 }, () => aTenant(left)),
        ...Array.from({ length: 20 }, () => aDept(right)),
      ]);
      expect(answers).toHaveLength(40);
    });
  });

  describe('of accounts and departments', () => {
    it('when a department is deleted while a user joins it, one of them wins', async () => {
      const tenantId = await aTenantRow(two.dataSource);
      const [left, right] = two.as({ tenantId });
      const userId = await aUser(left, { username: 'mover' });
      const outcomes = new Set<string>();
      for (let n = 0; n < ROUNDS; n += 1) {
        const deptId = await aDept(left);
        const [joined, deleted] = await Promise.all([
          left.put('/system/user-api', { userId, username: 'mover', deptId }),
          right.delete(`${DEPTS}/${deptId}`),
        ]);
        outcomes.add(`${joined.status} ${deleted.status}`);
        const dept = await two.dataSource.manager.findOneByOrFail(TenantryDept, { deptId });
        const member = await two.dataSource.manager.existsBy(AccountEntity, { userId, deptId });
        expect([dept.delFlag, member]).not.toEqual(['2', true]);
      }
      for (const outcome of outcomes) expect(['200 409', '404 200']).toContain(outcome);
    });
  });
});

/** The writes of this caller that the journal has after the department that they are about was outside, in the order of COMMITs. */
function writesOutside(changes: readonly ChangeRow[], by: string, root: number): string[] {
  const parents = new Map<number, number>();
  const isInside = (id: number): boolean => id === root || (id !== 0 && isInside(parents.get(id) ?? 0));
  const outside: string[] = [];
  for (const row of changes) {
    const { kind, operation, id, after } = row;
    const parentId = after?.parentId as number | undefined;
    const about =
      kind === 'user' ? [after!.deptId] : [operation === 'created' ? parentId : id, parentId ?? root];
    if (row.by === by && !about.every((dept) => isInside(Number(dept))))
      outside.push(`${operation} ${kind} ${id}`);
    if (kind === 'dept' && parentId !== undefined) parents.set(Number(id), parentId);
  }
  return outside;
}
