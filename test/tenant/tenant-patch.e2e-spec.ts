import { expectInvalid } from '../support/refusals';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { type ApiClient, aTenant } from '../../src/server/testing';

const PATH = '/system/tenant-api';
const WHOLE = {
  tenantName: '示例科技',
  startTime: '2026-01-01',
  endTime: '2036-12-31',
  contactUserName: '张三',
  companyName: '公司',
  accountCount: 5,
  packageBo: { menuIds: '1, 2' },
  quotaBo: { enterpriseQuery: 1, merchant: 2, zr: 9 },
  ruleBo: { modelZr: 'a', catalogRw: 'b' },
};

describe('changing a part of a tenant', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;
  let id: string;

  beforeEach(async () => {
    api = service.as({ tenantId: await aTenantRow(service.dataSource) });
    id = (await aTenant(api, WHOLE)).id;
  });

  const read = async () => (await api.get(`${PATH}/${id}`)).body.data;
  const patch = async (body: object) => {
    const { status, body: answer } = await api.patch(`${PATH}/${id}`, body);
    return [status, (answer.data as { reason: string } | null)?.reason];
  };

  it('a patch of a tenant merges objects member by member, and resets what it sets to null', async () => {
    const before = (await read()) as typeof WHOLE;
    expect(
      await patch({ companyName: null, quotaBo: { merchant: 7 }, ruleBo: { modelZr: null, modelPf: 'c' } }),
    ).toEqual([200, undefined]);
    expect(await read()).toEqual({
      ...before,
      companyName: null,
      quotaBo: { ...before.quotaBo, merchant: 7 },
      ruleBo: { ...before.ruleBo, modelZr: null, modelPf: 'c' },
    });
    await patch({ packageBo: null, quotaBo: null, ruleBo: null, endTime: null, accountCount: null });
    expect(await read()).toMatchObject({
      packageBo: { menuIds: '' },
      quotaBo: { enterpriseQuery: 0, merchant: 0 },
      ruleBo: { modelPf: null },
      endTime: null,
      accountCount: -1,
      tenantName: WHOLE.tenantName,
    });
    const row = await service.dataSource.manager.findOneByOrFail(TenantryTenant, { id });
    expect(row.quota.zr).toBe(9);
  });

  it('a patch of a tenant takes the id from the path alone', async () => {
    expect((await api.patch(PATH, { id, companyName: 'x' })).refusal.reason).toBe('ROUTE_NOT_FOUND');
    expectInvalid(await api.patch(`${PATH}/${id}`, { id: '5', companyName: 'y' }), 'id');
    expect((await api.patch(`${PATH}/${id}`, { id })).status).toBe(200);
  });

  it('a patch of a tenant has the rules of the whole replacement', async () => {
    const child = await aTenant(service.as(), {
      tenantParent: ((await read()) as { tenantId: string }).tenantId,
    });
    const before = await read();
    for (const body of [
      { tenantName: null },
      { tenantName: ' ' },
      { endTime: '2025-12-31' },
      { startTime: '2037-01-01' },
      { startTime: '2026-02-30' },
      { quotaBo: { merchant: -2 } },
      { ruleBo: 'x' },
      { status: '2' },
    ]) {
      expect([body, ...(await patch(body))]).toEqual([body, 400, 'INVALID_INPUT']);
    }
    expect((await api.patch(`${PATH}/${id}`, { endTime: '2025-12-31' })).refusal.fields?.[0]?.field).toBe(
      'endTime',
    );
    expect(await patch({ tenantParent: child.tenantId })).toEqual([409, 'TENANT_CYCLE']);
    expect(await patch({ tenantParent: '999999' })).toEqual([404, 'PARENT_TENANT_NOT_FOUND']);
    expect((await service.as().patch(`${PATH}/1`, { tenantName: 'x' })).refusal.reason).toBe('OWN_TENANT');
    expect(await read()).toEqual(before);
    expect(await patch({ startTime: '2037-01-01', endTime: '2037-01-01' })).toEqual([200, undefined]);
  });

  it('a patch of a tenant takes effect on its users at once', async () => {
    const { tenantId } = (await read()) as { tenantId: string };
    const user = service.as({ tenantId });
    expect((await user.get('/system/dept-api')).status).toBe(200);
    await patch({ status: '1' });
    expect((await user.get('/system/dept-api')).refusal.reason).toBe('TENANT_DISABLED');
  });
});
