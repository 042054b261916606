import crypto from 'node:crypto';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { type ApiClient, aTenant } from '../../src/server/testing';
import { expectInvalid, expectRefused } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/tenant-api';
const DONE = { code: 200, msg: '操作成功', data: null };
const NO_QUOTAS = {
  ...{ enterpriseQuery: 0, annualReportQuery: 0, chainReport: 0 },
  ...{ businessReport: 0, riskReport: 0, merchant: 0 },
};
const NO_RULES = {
  ...{ modelZr: null, modelPf: null, modelEd: null },
  ...{ catalogZr: null, catalogPf: null, catalogEd: null, catalogRw: null },
};

describe('tenants', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(() => {
    api = service.as({ roles: ['superadmin'], username: 'root' });
  });

  const adminOf = ({ tenantId }: { tenantId: string }) => service.as({ tenantId });
  const read = async (id: string) => (await api.get(`${PATH}/${id}`)).body.data as Record<string, unknown>;
  const row = (id: string) => service.dataSource.manager.findOneByOrFail(TenantryTenant, { id });

  describe('creating a tenant', () => {
    it('a create of a tenant answers null and names the new path in Location', async () => {
      const answer = await api.post(PATH, { tenantName: '甲' });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(DONE);
      expect(answer.headers.location).toMatch(/^\/system\/tenant-api\/\d{17,19}$/);
    });

    it('a create of a tenant gives every field that was not sent its default, and reads exactly the fields of the contract', async () => {
      const tenant = await aTenant(api, { tenantName: ' 甲 ' });
      expect(tenant).toEqual({
        id: expect.stringMatching(/^\d{17,19}$/) as string,
        tenantId: expect.stringMatching(/^\d{6}$/) as string,
        tenantName: '甲',
        tenantParent: '000000',
        ...{ startTime: null, endTime: null, contactUserName: null, contactPhone: null, companyName: null },
        ...{
          status: '0',
          accountCount: -1,
          packageBo: { menuIds: '' },
          quotaBo: NO_QUOTAS,
          ruleBo: NO_RULES,
        },
      });
      expect(await row(tenant.id)).toMatchObject({ createBy: 'root', updateBy: '', updateTime: null });
    });

    it("a new tenant is attached below a parent in the caller's subtree, by its code", async () => {
      const parent = await aTenant(api);
      const child = await aTenant(adminOf(parent));
      expect(child.tenantParent).toBe(parent.tenantId);
      const grandchild = await aTenant(adminOf(parent), { tenantParent: child.tenantId });
      expect(grandchild.tenantParent).toBe(child.tenantId);
      expect((await row(grandchild.id)).ancestors).toBe(`0,000000,${parent.tenantId},${child.tenantId}`);
    });

    it('a create of a tenant refuses a parent that is unknown, deleted, outside, or named by its id', async () => {
      const [parent, other, deleted] = [await aTenant(api), await aTenant(api), await aTenant(api)];
      await api.delete(`${PATH}/${deleted.id}`);
      const words = ['999', '999999', '', 'x', '租户', '😀', '000000'];
      for (const tenantParent of [...words, parent.id, deleted.tenantId, other.tenantId]) {
        const answer = await adminOf(parent).post(PATH, { tenantName: 'x', tenantParent });
        expectRefused(answer, 404, 'PARENT_TENANT_NOT_FOUND', { told: tenantParent });
      }
    });

    it('a create of a tenant ignores what only the service decides', async () => {
      const decided = { id: '7', tenantId: '000000', ancestors: '0', delFlag: '2', depth: 9 };
      const tenant = await aTenant(api, decided as object);
      expect(tenant.id).not.toBe('7');
      expect(tenant.tenantId).not.toBe('000000');
    });
  });

  describe('updating a tenant', () => {
    const full = {
      ...{ tenantName: '乙', startTime: '2026-01-01', endTime: '2036-12-31', companyName: '乙公司' },
      ...{ contactUserName: '李四', contactPhone: '13800000000', status: '1', accountCount: 7 },
      packageBo: { menuIds: '1, 2,3' },
      quotaBo: { ...NO_QUOTAS, enterpriseQuery: 1, chainReport: 3, merchant: 6 },
      ruleBo: {
        ...{ modelZr: 'a', modelPf: 'b', modelEd: 'c' },
        ...{ catalogZr: 'd', catalogPf: 'e', catalogEd: 'f', catalogRw: 'g' },
      },
    };

    it('an update of a tenant replaces everything, and resets what is not sent, but not the parent', async () => {
      const parent = await aTenant(api);
      const tenant = await aTenant(api, { tenantParent: parent.tenantId });
      const { id } = tenant;
      expect((await api.put(PATH, { id, ...full })).body).toEqual(DONE);
      const place = { id, tenantId: tenant.tenantId, tenantParent: parent.tenantId };
      expect(await read(id)).toEqual({ ...full, ...place });
      expect(await row(id)).toMatchObject({ updateBy: 'root', updateTime: expect.any(Date) as Date });
      expect((await api.put(PATH, { id, tenantName: 'a tenant' })).status).toBe(200);
      expect(await read(id)).toEqual(tenant);
    });

    it('an update of a tenant takes back what was read, unchanged', async () => {
      const before = await aTenant(api, full);
      expect((await api.put(PATH, before)).status).toBe(200);
      expect(await read(before.id)).toEqual(before);
    });

    it('an update of a tenant keeps the extra quotas that it does not send, and takes those it does', async () => {
      const { id } = await aTenant(api, {
        quotaBo: { riskReportUsed: 1, zr: 2, credit: 3, pf: 4, merchant: 9 },
      });
      const extras = async () => {
        const { riskReportUsed, zr, credit, pf, merchant } = (await row(id)).quota;
        return [riskReportUsed, zr, credit, pf, merchant];
      };
      expect(await extras()).toEqual([1, 2, 3, 4, 9]);
      await api.put(PATH, { id, tenantName: 'x' });
      expect(await extras()).toEqual([1, 2, 3, 4, 0]);
      await api.put(PATH, { id, tenantName: 'x', quotaBo: { zr: 20, pf: null } });
      expect(await extras()).toEqual([1, 20, 3, 4, 0]);
      expect(Object.keys((await read(id)).quotaBo as object)).toHaveLength(6);
    });

    it('an update of a tenant needs an id, as text', async () => {
      for (const wrong of [undefined, null, 1, 'x', '', ['1'], '99999999999999999999'])
        expectInvalid(await api.put(PATH, { id: wrong, tenantName: 'x' }), 'id', wrong);
    });

    it('an update moves a tenant with all below it', async () => {
      const [a, b] = [await aTenant(api), await aTenant(api)];
      const child = await aTenant(api, { tenantParent: a.tenantId });
      const grandchild = await aTenant(api, { tenantParent: child.tenantId });
      expect((await api.put(PATH, { ...a, tenantParent: b.tenantId })).status).toBe(200);
      expect(await row(grandchild.id)).toMatchObject({
        ancestors: `0,000000,${b.tenantId},${a.tenantId},${child.tenantId}`,
        depth: 5,
      });
      expect((await adminOf(b).get(`${PATH}/${grandchild.id}`)).status).toBe(200);
      expect((await api.put(PATH, { ...a, tenantParent: '000000' })).status).toBe(200);
      expect((await adminOf(b).get(`${PATH}/${grandchild.id}`)).status).toBe(404);
    });

    it('an update refuses a parent at or below the tenant itself, and one outside', async () => {
      const a = await aTenant(api);
      const b = await aTenant(api, { tenantParent: a.tenantId });
      const c = await aTenant(api, { tenantParent: b.tenantId });
      for (const { tenantId: tenantParent } of [a, b, c]) {
        expectRefused(await api.put(PATH, { ...a, tenantParent }), 409, 'TENANT_CYCLE');
      }
      const outside = await adminOf(a).put(PATH, { ...c, tenantParent: '000000' });
      expectRefused(outside, 404, 'PARENT_TENANT_NOT_FOUND');
      expect(await read(a.id)).toEqual(a);
    });

    it('tenants refuse depth 65, the height of what moves included', async () => {
      let parent = await aTenant(api);
      for (let depth = 3; depth <= 64; depth += 1)
        parent = await aTenant(api, { tenantParent: parent.tenantId });
      const below = await api.post(PATH, { tenantName: 'x', tenantParent: parent.tenantId });
      expect([below.status, below.refusal.reason, below.refusal.fields?.[0]?.field]).toEqual([
        400,
        'TENANT_TOO_DEEP',
        'tenantParent',
      ]);
      const two = await aTenant(api);
      await aTenant(api, { tenantParent: two.tenantId });
      const above = (await row(parent.id)).tenantParent;
      expect((await api.put(PATH, { ...two, tenantParent: above })).refusal.reason).toBe('TENANT_TOO_DEEP');
    });
  });

  describe('deleting a tenant', () => {
    it('a deletion of a tenant is soft, and nothing finds the tenant any more', async () => {
      const { id, tenantId } = await aTenant(api);
      expect((await api.delete(`${PATH}/${id}`)).body).toEqual(DONE);
      expect(await row(id)).toMatchObject({ delFlag: '2', tenantId });
      for (const answer of [
        await api.get(`${PATH}/${id}`),
        await api.put(PATH, { id, tenantName: 'x' }),
        await api.delete(`${PATH}/${id}`),
      ]) {
        expectRefused(answer, 404, 'TENANT_NOT_FOUND');
      }
    });

    it('a deletion of a tenant is refused while there are child tenants', async () => {
      const parent = await aTenant(api);
      const child = await aTenant(api, { tenantParent: parent.tenantId });
      const answer = await api.delete(`${PATH}/${parent.id}`);
      expectRefused(answer, 409, 'TENANT_HAS_CHILDREN', { ids: [parent.id] });
      await api.delete(`${PATH}/${child.id}`);
      expect((await api.delete(`${PATH}/${parent.id}`)).status).toBe(200);
    });

    it('a deletion of a tenant takes one id, not several', async () => {
      const [a, b] = [await aTenant(api), await aTenant(api)];
      expect((await api.delete(`${PATH}/${a.id},${b.id}`)).status).toBe(400);
      expect((await api.get(`${PATH}/${a.id}`)).status).toBe(200);
    });
  });

  it('the platform is protected by what is stored, whatever the body says', async () => {
    const other = await aTenant(api);
    for (const body of [
      { id: '1', tenantName: 'mine', status: '1' },
      { id: '1', tenantName: 'mine', tenantId: other.tenantId },
      { id: '1', tenantName: 'mine', tenantParent: other.tenantId },
    ]) {
      expectRefused(await api.put(PATH, body), 403, 'OWN_TENANT');
    }
    expect((await api.delete(`${PATH}/1`)).refusal.reason).toBe('OWN_TENANT');
    expect(await read('1')).toMatchObject({ tenantId: '000000', tenantParent: null, status: '0' });
    await api.put(PATH, { id: other.id, tenantName: 'x', tenantId: '000000' });
    expect(await read(other.id)).toMatchObject({ tenantId: other.tenantId });
  });

  it('a code of a tenant is never given again, not even that of a deleted tenant', async () => {
    const deleted = await aTenant(api);
    await api.delete(`${PATH}/${deleted.id}`);
    const draws = Array.from({ length: 99 }, () => Number(deleted.tenantId));
    const spy = jest.spyOn(crypto, 'randomInt').mockImplementation(() => draws.pop() ?? 765_432);
    const tenant = await aTenant(api);
    spy.mockRestore();
    expect(tenant.tenantId).toBe('765432');
  });

  it('tenants refuse ids in paths that are no ids', async () => {
    for (const id of ['abc', '-1', '0', '1.5', '%20', '12345678901234567890']) {
      expect([id, (await api.get(`${PATH}/${id}`)).status]).toEqual([id, 400]);
    }
  });
});
