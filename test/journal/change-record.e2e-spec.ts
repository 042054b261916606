import { aDept, aTenant, aUser } from '../../src/server/testing';
import { TenantryChange } from '../../src/journal/change-log';
import { nextCommits } from '../support/commit-faults';
import { changePage, cursorNow } from '../support/follower';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { onPostgres } from '../support/test-database';

const DEPTS = '/system/dept-api';
const TENANTS = '/system/tenant-api';
const USERS = '/system/user-api';

describe('what the journal records', () => {
  const service = ServiceUnderTest.use();

  async function inNewTenant() {
    const tenantId = await aTenantRow(service.dataSource);
    return { tenantId, api: service.as({ tenantId }) };
  }

  it('the journal records every operation on a department, whole or only what has changed, by whom and in which request', async () => {
    const { tenantId, api } = await inNewTenant();
    const named = api.with({ 'x-request-id': 'the-request' });
    const top = await aDept(named, { deptName: 'top', leader: 'Li' });
    const child = await aDept(api, { parentId: top, deptName: 'child' });
    await api.put(DEPTS, { deptId: child, parentId: 0, deptName: 'renamed' });
    await api.patch(`${DEPTS}/${top}`, { leader: null });
    await api.delete(`${DEPTS}/${child}`);
    const { rows } = await changePage(api);
    const common = { tenantId, kind: 'dept' };
    const by = rows[0]!.by;
    expect(rows).toMatchObject([
      {
        ...common,
        ...{ version: 1, seq: 0, prev: 0, operation: 'created', id: top, requestId: 'the-request' },
        before: null,
        after: {
          ...{
            parentId: 0,
            deptName: 'top',
            orderNum: 0,
            leader: 'Li',
            phone: null,
            email: null,
            status: '0',
          },
          ...{ createBy: by, updateBy: '', updateTime: null },
        },
      },
      { ...common, version: 2, seq: 0, prev: 1, operation: 'created', id: child, after: { parentId: top } },
      {
        ...common,
        ...{ version: 3, prev: 2, operation: 'moved', id: child },
        before: { parentId: top, deptName: 'child', updateBy: '', updateTime: null },
        after: { parentId: 0, deptName: 'renamed', updateBy: by },
      },
      {
        ...common,
        version: 4,
        operation: 'updated',
        id: top,
        before: { leader: 'Li' },
        after: { leader: null },
      },
      {
        ...common,
        version: 5,
        operation: 'deleted',
        id: child,
        before: { deptName: 'renamed' },
        after: null,
      },
    ]);
    expect(Object.keys(rows[3]!.after!).sort()).toEqual(['leader', 'updateBy', 'updateTime']);
    const created = (await api.get(`${DEPTS}/${top}`)).body.data as {
      createTime: string;
      updateTime: string;
    };
    expect(rows[0]!.after!.createTime).toBe(created.createTime);
    expect(rows[3]!.after!.updateTime).toBe(created.updateTime);
    expect(rows[3]!.time).toBe(created.updateTime);
  });

  it('the journal records a move with a subtree as one entry', async () => {
    const { api } = await inNewTenant();
    const [top, other] = [await aDept(api), await aDept(api)];
    for (let n = 0; n < 5; n += 1) await aDept(api, { parentId: top });
    const after = await cursorNow(api);
    await api.put(DEPTS, { deptId: top, parentId: other });
    const { rows } = await changePage(api, { after });
    expect(rows).toMatchObject([
      { operation: 'moved', id: top, before: { parentId: 0 }, after: { parentId: other } },
    ]);
  });

  it('the journal records an import as an entry a line, under one version, and nothing of what it leaves as it is', async () => {
    const { api } = await inNewTenant();
    await aDept(api, { deptName: 'there', leader: 'before' });
    await aDept(api, { deptName: 'same' });
    const after = await cursorNow(api);
    const lines = [
      { path: 'there', leader: 'after' },
      { path: 'same' },
      ...Array.from({ length: 450 }, (_, n) => ({ path: `there/${n}` })),
    ];
    const file = lines.map((line) => JSON.stringify(line)).join('\n');
    const answer = await api.post(`${DEPTS}/import`, file, { 'content-type': 'application/x-ndjson' });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"created":450')]);
    const { rows } = await changePage(api, { after, limit: 500 });
    expect(rows).toHaveLength(451);
    expect(new Set(rows.map(({ version }) => version)).size).toBe(1);
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index));
    expect(rows.slice(1).every(({ prev, version }) => prev === version)).toBe(true);
    expect(rows.find(({ operation }) => operation === 'updated')).toMatchObject({
      before: { leader: 'before' },
      after: { leader: 'after' },
    });
  });

  it('the journal records a new order as an entry for each department', async () => {
    const { api } = await inNewTenant();
    const ids = [await aDept(api), await aDept(api)];
    const after = await cursorNow(api);
    await api.put(`${DEPTS}/order`, { parentId: 0, deptIds: ids.toReversed() });
    const { rows } = await changePage(api, { after });
    expect(rows.map(({ id, after: fields }) => [id, fields?.orderNum])).toEqual([
      [ids[1], 1],
      [ids[0], 2],
    ]);
  });

  it('the journal of the platform records tenants, and those above them see them from below', async () => {
    const platform = service.as();
    const [a, b] = [await aTenant(platform), await aTenant(platform)];
    const [inA, inB] = [a, b].map(({ tenantId }) => service.as({ tenantId }));
    const after = await cursorNow(platform);
    const [afterA, afterB] = [await cursorNow(inA!), await cursorNow(inB!)];
    const child = await aTenant(inA!, { tenantName: 'child' });
    await platform.put(TENANTS, {
      id: child.id,
      tenantName: 'renamed',
      accountCount: 5,
      packageBo: { menuIds: '7' },
    });
    await platform.put(TENANTS, { id: child.id, tenantName: 'renamed', tenantParent: b.tenantId });
    await platform.delete(`${TENANTS}/${child.id}`);
    const all = (await changePage(platform, { after })).rows;
    expect(all).toMatchObject([
      {
        tenantId: '000000',
        kind: 'tenant',
        operation: 'created',
        id: child.id,
        after: { tenantParent: a.tenantId },
      },
      {
        operation: 'updated',
        before: { tenantName: 'child', accountCount: -1, packageBo: { menuIds: '' } },
        after: { tenantName: 'renamed', accountCount: 5, packageBo: { menuIds: '7' } },
      },
      { operation: 'moved', before: { tenantParent: a.tenantId }, after: { tenantParent: b.tenantId } },
      { operation: 'deleted', before: { tenantParent: b.tenantId } },
    ]);
    const seen = async (api: typeof platform, from: string) =>
      (await changePage(api, { after: from })).rows.map(({ operation, before, after: now }) => [
        operation,
        before?.tenantParent,
        now?.tenantParent,
      ]);
    expect(await seen(inA!, afterA)).toEqual([
      ['created', undefined, a.tenantId],
      ['updated', undefined, undefined],
      ['moved', a.tenantId, null],
    ]);
    expect(await seen(inB!, afterB)).toEqual([
      ['moved', null, b.tenantId],
      ['deleted', b.tenantId, undefined],
    ]);
  });

  it('the journal records many deletions at once as an entry for each, in the order of their ids', async () => {
    const { api } = await inNewTenant();
    const deptIds: number[] = [];
    const userIds: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      deptIds.push(await aDept(api));
      userIds.push(await aUser(api, { username: `user ${n}` }));
    }
    // PostgreSQL puts the new version of a row behind the others, and reads a small table from its beginning.
    await api.patch(`${DEPTS}/${deptIds[0]}`, { leader: 'Li' });
    await api.put(USERS, { userId: userIds[0], username: 'renamed' });
    if (onPostgres) await service.dataSource.query('ANALYZE');
    const after = await cursorNow(api);
    await api.delete(`${DEPTS}/${deptIds.toReversed().join(',')}`);
    await api.delete(`${USERS}/${userIds.toReversed().join(',')}`);
    const { rows } = await changePage(api, { after });
    expect(rows.map(({ id }) => id)).toEqual([...deptIds, ...userIds]);
  });

  it('the journal records that the system made the first account', async () => {
    const { rows } = await changePage(service.as(), { kind: 'user', by: 'system', limit: 1 });
    expect(rows).toMatchObject([
      { operation: 'created', after: { username: 'admin', roles: ['superadmin'] } },
    ]);
  });

  it('the journal records nothing of a refused or failed write', async () => {
    const { tenantId, api } = await inNewTenant();
    const deptId = await aDept(api);
    await aDept(api, { parentId: deptId });
    for (const answer of [
      await api.delete(`${DEPTS}/${deptId}`),
      await api.post(DEPTS, { parentId: 987_654_321 }),
      await api.put(DEPTS, { deptId, parentId: deptId }),
    ])
      expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await service.dataSource.manager.countBy(TenantryChange, { tenantId })).toBe(2);
  });

  it.each(['unheard', 'conflict'] as const)(
    'the journal records one entry for a COMMIT with the fate %s',
    async (fate) => {
      const { tenantId, api } = await inNewTenant();
      nextCommits(service.dataSource, fate);
      await aDept(api);
      expect(await service.dataSource.manager.countBy(TenantryChange, { tenantId })).toBe(1);
    },
  );
});
