import { DomainEvents } from '../../src/database/domain-events';
import { DeptRestored } from '../../src/dept/dept.events';
import { aDept, type Answer, type ApiClient, aTenant } from '../../src/server/testing';
import { TenantRestored } from '../../src/tenant/tenant.events';
import { freshTenant } from '../support/fresh-tenant';
import { expectInvalid, expectRefused } from '../support/refusals';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DEPTS = '/system/dept-api';
const TENANTS = '/system/tenant-api';

interface Entry {
  readonly operation: string;
  readonly before: unknown;
  readonly after: Readonly<Record<string, unknown>> | null;
}

describe('restoring', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn' });
  let api: ApiClient;
  let tenantId: string;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  const dataOf = (answer: Answer): unknown => {
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.anything()]);
    return answer.body.data;
  };
  const historyOf = async (path: string) =>
    (dataOf(await api.get(`${path}/history`)) as { rows: Entry[] }).rows;

  describe('a department', () => {
    /** A department that was deleted, and its parent. */
    const aDeletedOne = async (fields = {}): Promise<{ id: number; parent: number }> => {
      const parent = await aDept(api, { deptName: 'parent' });
      const id = await aDept(api, { parentId: parent, deptName: 'gone', leader: '张三', ...fields });
      await api.delete(`${DEPTS}/${id}`);
      return { id, parent };
    };
    const restore = (id: number, body?: unknown, headers?: Record<string, string>) =>
      api.send('POST', `${DEPTS}/${id}/restore`, body, headers);

    it('a restored department has its old id and parent, all it had, and its history goes on', async () => {
      const { id, parent } = await aDeletedOne();
      const events: DeptRestored[] = [];
      service.app.get(DomainEvents).on(DeptRestored, (event) => void events.push(event));
      expect(dataOf(await restore(id))).toBeNull();
      const dept = dataOf(await api.get(`${DEPTS}/${id}`)) as Record<string, unknown>;
      const fields = { parentId: parent, ancestors: `0,${parent}`, deptName: 'gone', leader: '张三' };
      expect(dept).toMatchObject({ ...fields, delFlag: '0' });
      const [restored, ...others] = await historyOf(`${DEPTS}/${id}`);
      expect(others.map(({ operation }) => operation)).toEqual(['deleted', 'created']);
      expect(restored).toMatchObject({ operation: 'restored', before: null });
      const { createBy, createTime, updateBy, updateTime, orderNum, phone, email, status } = dept;
      const audit = { createBy, createTime, updateBy, updateTime, orderNum, phone, email, status };
      expect(restored!.after).toEqual({ parentId: parent, deptName: 'gone', leader: '张三', ...audit });
      expect(events).toMatchObject([{ tenantId, deptId: id }]);
    });

    it('a restored department comes back below where its parent stands now, or below another parent', async () => {
      const { id, parent } = await aDeletedOne();
      const other = await aDept(api);
      await api.patch(`${DEPTS}/${parent}`, { parentId: other });
      dataOf(await restore(id, {}));
      expect(dataOf(await api.get(`${DEPTS}/${id}`))).toMatchObject({ ancestors: `0,${other},${parent}` });
      await api.delete(`${DEPTS}/${id}`);
      dataOf(await restore(id, { parentId: String(other) }));
      expect(dataOf(await api.get(`${DEPTS}/${id}`))).toMatchObject({ ancestors: `0,${other}` });
      await api.delete(`${DEPTS}/${id}`);
      dataOf(await restore(id, { parentId: 0 }));
      expect(dataOf(await api.get(`${DEPTS}/${id}`))).toMatchObject({ ancestors: '0', parentId: 0 });
    });

    it('a restore of a department holds the rules of create against its place', async () => {
      const { id, parent } = await aDeletedOne();
      await api.patch(`${DEPTS}/${parent}`, { status: '1' });
      expectRefused(await restore(id), 409, 'PARENT_DISABLED');
      await api.delete(`${DEPTS}/${parent}`);
      expectRefused(await restore(id), 409, 'PARENT_NOT_FOUND', { ids: [parent] });
      expectRefused(await restore(id, { parentId: 987_654 }), 409, 'PARENT_NOT_FOUND', { ids: [987_654] });
      // It cannot be its own parent: it does not live.
      expectRefused(await restore(id, { parentId: id }), 409, 'PARENT_NOT_FOUND', { ids: [id] });
      let deepest = 0;
      for (let depth = 0; depth < 64; depth += 1) deepest = await aDept(api, { parentId: deepest });
      expectRefused(await restore(id, { parentId: deepest }), 400, 'DEPT_TOO_DEEP');
      for (const parentId of ['x', -1, 1.5, [], {}])
        expectInvalid(await restore(id, { parentId }), 'parentId', parentId);
      expectInvalid(await restore(id, []), 'body');
      expect((await api.get(`${DEPTS}/${id}`)).status).toBe(404);
      expect((await historyOf(`${DEPTS}/${id}`)).length).toBe(2);
    });

    it('a restore is refused for a department that is not deleted or never existed', async () => {
      expectRefused(await restore(await aDept(api)), 409, 'NOT_DELETED');
      expectRefused(await restore(987_654), 404, 'DEPT_NOT_FOUND');
    });

    it('a restore happens once with an Idempotency-Key, and once among many at the same time', async () => {
      const { id } = await aDeletedOne();
      const key = { 'idempotency-key': `restore ${id}` };
      dataOf(await restore(id, {}, key));
      const again = await restore(id, {}, key);
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
      await api.delete(`${DEPTS}/${id}`);
      const answers = await Promise.all(Array.from({ length: 8 }, () => restore(id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
    });
  });

  describe('a tenant', () => {
    const restore = (caller: ApiClient, id: string, body?: unknown) =>
      caller.send('POST', `${TENANTS}/${id}/restore`, body);

    it('a restored tenant has its departments, and its history goes on', async () => {
      const events: TenantRestored[] = [];
      service.app.get(DomainEvents).on(TenantRestored, (event) => void events.push(event));
      const { id, tenantId: code } = await aTenant(api, { tenantName: 'gone', quotaBo: { merchant: 5 } });
      const own = service.as({ tenantId: code });
      const dept = await aDept(own, { deptName: 'stays' });
      const before = dataOf(await api.get(`${TENANTS}/${id}`));
      await api.delete(`${TENANTS}/${id}`);
      expectRefused(await own.get(`${DEPTS}/${dept}`), 403, 'TENANT_DELETED');
      expect(dataOf(await restore(api, id))).toBeNull();
      expect(dataOf(await api.get(`${TENANTS}/${id}`))).toEqual(before);
      expect(dataOf(await own.get(`${DEPTS}/${dept}`))).toMatchObject({ deptName: 'stays' });
      const rows = await historyOf(`${TENANTS}/${id}`);
      expect(rows.map(({ operation }) => operation)).toEqual(['restored', 'deleted', 'created']);
      const { id: _, ...fields } = before as { id: string };
      expect(rows[0]).toMatchObject({ before: null, after: fields, id, kind: 'tenant' });
      expect(events).toMatchObject([{ tenantId: code, id }]);
    });

    it('a restore of a tenant holds the rules of create against its place, and names the parent that can be restored first', async () => {
      const parent = await aTenant(api);
      const child = await aTenant(api, { tenantParent: parent.tenantId });
      expectRefused(await restore(api, child.id), 409, 'NOT_DELETED');
      await api.delete(`${TENANTS}/${child.id}`);
      await api.delete(`${TENANTS}/${parent.id}`);
      expectRefused(await restore(api, child.id), 409, 'PARENT_TENANT_NOT_FOUND', { ids: [parent.id] });
      for (const tenantParent of ['777', 'x', parent.tenantId, '000000'])
        expectRefused(await restore(api, child.id, { tenantParent }), 409, 'PARENT_TENANT_NOT_FOUND', {
          ids: [],
        });
      dataOf(await restore(api, parent.id));
      dataOf(await restore(api, child.id));
      expect(dataOf(await api.get(`${TENANTS}/${child.id}`))).toMatchObject({
        tenantParent: parent.tenantId,
      });
      await api.delete(`${TENANTS}/${child.id}`);
      dataOf(await restore(api, child.id, { tenantParent: tenantId }));
      expect(dataOf(await api.get(`${TENANTS}/${child.id}`))).toMatchObject({ tenantParent: tenantId });
      expectRefused(await restore(api, '987654321'), 404, 'TENANT_NOT_FOUND');
      expectRefused(await restore(api, '1'), 404, 'TENANT_NOT_FOUND');
    });

    it('a restore of a tenant is for those whom its place belongs to now, also when its parent has moved since', async () => {
      const platform = service.as({ roles: ['superadmin'] });
      const [left, right] = [await aTenant(api), await aTenant(api)];
      const [leftApi, rightApi] = [left, right].map((each) => service.as({ tenantId: each.tenantId }));
      const parent = await aTenant(api, { tenantParent: left.tenantId });
      const child = await aTenant(api, { tenantParent: parent.tenantId });
      await api.delete(`${TENANTS}/${child.id}`);
      expectRefused(await restore(rightApi!, child.id), 404, 'TENANT_NOT_FOUND');
      await api.patch(`${TENANTS}/${parent.id}`, { tenantParent: right.tenantId });
      expectRefused(await restore(leftApi!, child.id), 404, 'TENANT_NOT_FOUND');
      expectRefused(
        await restore(leftApi!, child.id, { tenantParent: left.tenantId }),
        404,
        'TENANT_NOT_FOUND',
      );
      dataOf(await restore(rightApi!, child.id));
      expect(dataOf(await platform.get(`${TENANTS}/${child.id}`))).toMatchObject({
        tenantParent: parent.tenantId,
      });
      expect((await leftApi!.get(`${TENANTS}/${child.id}`)).status).toBe(404);
    });

    it('a history of a tenant is told only for the time in which it was below the caller, without parents elsewhere', async () => {
      const [left, right] = [await aTenant(api), await aTenant(api)];
      const [leftApi, rightApi] = [left, right].map((each) => service.as({ tenantId: each.tenantId }));
      const child = await aTenant(api, { tenantParent: left.tenantId, tenantName: 'first' });
      await api.patch(`${TENANTS}/${child.id}`, { tenantParent: right.tenantId });
      await api.patch(`${TENANTS}/${child.id}`, { tenantName: 'second' });
      const told = async (caller: ApiClient) =>
        (dataOf(await caller.get(`${TENANTS}/${child.id}/history`)) as { rows: Entry[] }).rows;
      const move = (from: string | null, to: string | null) => ({
        operation: 'moved',
        before: { tenantParent: from },
        after: { tenantParent: to },
      });
      const [before, after] = [left.tenantId, right.tenantId];
      expect(await told(leftApi!)).toMatchObject([move(before, null), { operation: 'created' }]);
      expect(await told(rightApi!)).toMatchObject([{ operation: 'updated' }, move(null, after)]);
      expect(await told(api)).toMatchObject([{}, move(before, after), {}]);
      const stranger = service.as({ tenantId: await aTenantRow(service.dataSource) });
      expectRefused(await stranger.get(`${TENANTS}/${child.id}/history`), 404, 'TENANT_NOT_FOUND');
      expect((await leftApi!.get(`${TENANTS}/${left.id}/history`)).status).toBe(200);
      expectRefused(await leftApi!.get(`${TENANTS}/${right.id}/history`), 404, 'TENANT_NOT_FOUND');
    });
  });
});
