import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { TenantryChange } from '../../src/journal/change-log';
import { TenantryDept } from '../../src/dept/dept.entity';
import { TenantryTenant } from '../../src/tenant/tenant.entity';
import { AccountEntity, KeyEntity } from '../../src/server/auth/account.entity';
import { aDept } from '../../src/server/testing';
import { breakOnPurpose } from '../support/examined-databases';
import { anAccount, aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

describe('the doctor', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let [top, child]: [number, number] = [0, 0];

  beforeAll(async () => {
    await breakOnPurpose(service.database);
  });
  beforeEach(async () => {
    tenantId = await aTenantRow(service.dataSource);
    const api = service.as({ tenantId });
    top = await aDept(api, { deptName: 'top' });
    child = await aDept(api, { parentId: top, deptName: 'child' });
    expect(await findings()).toEqual([]);
  });

  const findings = async () => (await new ServiceDoctor(service.dataSource).examine()).findings;
  const setDept = (deptId: number, values: Partial<TenantryDept>) =>
    service.dataSource.manager.update(TenantryDept, { deptId }, values);
  const setTenant = (code: string, values: Partial<TenantryTenant>) =>
    service.dataSource.manager.update(TenantryTenant, { tenantId: code }, values);
  const setAdmin = (values: Partial<AccountEntity>) =>
    service.dataSource.manager.update(AccountEntity, { username: 'admin' }, values);

  /** The journal says other things of a row that was changed by hand. */
  const beside = (found: readonly string[]) => found.filter((line) => !line.includes('journal'));

  async function heard(breaks: () => Promise<unknown>, mends: () => Promise<unknown>): Promise<string[]> {
    await breaks();
    const found = await findings();
    await mends();
    expect(await findings()).toEqual([]);
    return found;
  }

  it('the doctor finds departments in a cycle', async () => {
    const found = await heard(
      () => setDept(top, { parentId: child, ancestors: `0,${child}`, depth: 2 }),
      () => setDept(top, { parentId: 0, ancestors: '0', depth: 1 }),
    );
    expect(beside(found)).toEqual([top, child].map((id) => `department ${id}: is its own ancestor`));
  });

  it('the doctor finds a wrong path and a wrong depth', async () => {
    const right = { ancestors: `0,${top}`, depth: 2 };
    for (const wrong of [{ ancestors: '0' }, { depth: 3 }]) {
      const found = await heard(
        () => setDept(child, wrong),
        () => setDept(child, right),
      );
      expect(found).toEqual([`department ${child}: its path should be 0,${top}`]);
    }
  });

  it('the doctor finds a live department below a deleted one, and below one of another tenant', async () => {
    const line = `department ${child}: an ancestor is deleted or missing`;
    const gone = await heard(
      () => setDept(top, { delFlag: '2' }),
      () => setDept(top, { delFlag: '0' }),
    );
    expect(gone).toContain(line);
    const other = await aTenantRow(service.dataSource);
    const foreign = await heard(
      () => setDept(top, { tenantId: other }),
      () => setDept(top, { tenantId }),
    );
    expect(foreign).toContain(line);
  });

  it('the doctor finds a live tenant below a deleted one, a second root, and one in a cycle', async () => {
    const below = { tenantParent: tenantId, ancestors: `0,000000,${tenantId}`, depth: 3 };
    const second = await aTenantRow(service.dataSource, below);
    const orphan = await heard(
      () => setTenant(tenantId, { delFlag: '2' }),
      () => setTenant(tenantId, { delFlag: '0' }),
    );
    expect(orphan).toEqual([`tenant ${second}: an ancestor is deleted or missing`]);
    const root = await heard(
      () => setTenant(second, { tenantParent: null, ancestors: '0', depth: 1 }),
      () => setTenant(second, below),
    );
    expect(root).toEqual([`the root of the tenants should be 000000, not 000000,${second}`]);
    const cycle = await heard(
      () => setTenant(tenantId, { tenantParent: second }),
      () => setTenant(tenantId, { tenantParent: '000000' }),
    );
    expect(cycle).toEqual([tenantId, second].map((code) => `tenant ${code}: is its own ancestor`));
  });

  it('the doctor finds nothing in what a deleted tenant has left, unless that is broken; and mends it', async () => {
    await setTenant(tenantId, { delFlag: '2' });
    expect(await findings()).toEqual([]);
    await setDept(child, { ancestors: '0,9', depth: 4 });
    const { dataSource } = service;
    const { repaired } = await new ServiceDoctor(dataSource).examine({ repair: true });
    expect(repaired).toEqual([`department ${child}: its path should be 0,${top}`]);
    expect(await findings()).toEqual([]);
  });

  it('the doctor raises the revision of what it repairs: a client that remembers the wrong path gets the right one', async () => {
    const api = service.as({ tenantId });
    await setDept(child, { ancestors: '0,9', depth: 4 });
    const remembered = await api.get(`/system/dept-api/${child}`);
    expect(remembered.body.data).toMatchObject({ ancestors: '0,9' });
    const untouched = (await api.get(`/system/dept-api/${top}`)).headers.etag!;

    const { dataSource } = service;
    await new ServiceDoctor(dataSource).examine({ repair: true });
    const answer = await api.get(`/system/dept-api/${child}`, { 'if-none-match': remembered.headers.etag! });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ ancestors: `0,${top}` });
    const other = await api.get(`/system/dept-api/${top}`, { 'if-none-match': untouched });
    expect(other.status).toBe(304);
  });

  it('the doctor raises the revision of a tenant whose path it repairs', async () => {
    await setTenant(tenantId, { ancestors: '0,9', depth: 4 });
    const { dataSource } = service;
    const before = await dataSource.manager.findOneByOrFail(TenantryTenant, { tenantId });
    await new ServiceDoctor(dataSource).examine({ repair: true });
    const after = await dataSource.manager.findOneByOrFail(TenantryTenant, { tenantId });
    expect(after).toMatchObject({ ancestors: '0,000000', depth: 2, revision: before.revision + 1 });
  });

  it('the doctor finds an account in a deleted department', async () => {
    const found = await heard(
      async () => {
        await anAccount(service.dataSource, { tenantId, deptId: child });
        await setDept(child, { delFlag: '2' });
      },
      () => setDept(child, { delFlag: '0' }),
    );
    expect(found).toContainEqual(
      expect.stringMatching(/^account \d+: its department is deleted or missing$/),
    );
  });

  it('the doctor finds a limit of accounts that was not held, and notes one that was lowered', async () => {
    await setTenant(tenantId, { accountCount: 1 });
    for (let n = 0; n < 2; n += 1) await anAccount(service.dataSource, { tenantId, deptId: null });
    expect(await findings()).toEqual([`tenant ${tenantId}: has more accounts than its limit allowed`]);
    await setTenant(tenantId, { updateTime: new Date(Date.now() + 1000) });
    const { notes } = await new ServiceDoctor(service.dataSource).examine();
    expect(notes).toEqual([`tenant ${tenantId}: has more accounts than its limit allows now`]);
    await setTenant(tenantId, { accountCount: -1 });
  });

  it('the doctor finds accounts that could sign in where they should not, and names that could be taken twice', async () => {
    await anAccount(service.dataSource, { tenantId, deptId: null });
    const { manager } = service.dataSource;
    const { userId } = await manager.findOneByOrFail(AccountEntity, { tenantId });
    for (const [wrong, right, line] of [
      [{ roles: 'superadmin' }, { roles: 'member' }, 'is a superadmin outside the platform'],
      [{ nameKey: userId }, { nameKey: 0 }, 'its name could be taken twice'],
    ] as const) {
      const found = await heard(
        () => manager.update(AccountEntity, { userId }, wrong),
        () => manager.update(AccountEntity, { userId }, right),
      );
      expect(found).toEqual([expect.stringContaining(`account ${userId}: ${line}`)]);
    }
  });

  it('the doctor finds keys that could do more than they should, names that could be taken twice, and lists of departments that dangle', async () => {
    const { manager } = service.dataSource;
    const part = {
      roles: ['dept_admin'],
      managedDeptIds: [child],
      dataScope: 'custom',
      scopeDeptIds: [child],
    };
    const body = { name: 'k', permissions: ['dept:read'], ...part };
    const { data } = (await service.as({ tenantId }).post('/system/key-api', body)).body;
    const { id: keyId } = data as { id: number };
    for (const [wrong, right, line] of [
      [{ roles: 'superadmin' }, { roles: 'dept_admin' }, 'is a superadmin outside the platform'],
      [{ nameKey: keyId }, { nameKey: 0 }, 'its name could be taken twice'],
    ] as const) {
      const found = await heard(
        () => manager.update(KeyEntity, { keyId }, wrong),
        () => manager.update(KeyEntity, { keyId }, right),
      );
      expect(beside(found)).toEqual([expect.stringContaining(`key ${keyId}: ${line}`)]);
    }
    await manager.update(KeyEntity, { keyId }, { permissions: 'dept:write' });
    expect(await findings()).toEqual([expect.stringContaining(`key ${keyId}: is not as its last entry`)]);
    await manager.update(KeyEntity, { keyId }, { permissions: 'dept:read' });
    await service.as({ tenantId }).delete(`/system/dept-api/${child}`);
    const { notes, findings: wrong } = await new ServiceDoctor(service.dataSource).examine();
    expect([wrong, notes]).toEqual([
      [],
      [
        `key ${keyId}: manages a department that is deleted or missing`,
        `key ${keyId}: has a deleted or missing department in its data scope`,
      ],
    ]);
    await service.as({ tenantId }).delete(`/system/key-api/${keyId}`);
  });

  it('the doctor finds a row that was changed or removed past the journal', async () => {
    const notAsSaid = `is not as its last entry in the journal says (${tenantId} 2.0)`;
    for (const [wrong, right] of [
      [{ deptName: 'past the journal' }, { deptName: 'child' }],
      [{ delFlag: '2' }, { delFlag: '0' }],
      [{ leader: 'x' }, { leader: null }],
    ] as const) {
      const found = await heard(
        () => setDept(child, wrong),
        () => setDept(child, right),
      );
      expect(found).toContain(`department ${child}: ${notAsSaid}`);
    }
  });

  it('the doctor finds a journal entry that is missing, and one from the future', async () => {
    const { manager } = service.dataSource;
    const first = await manager.findOneByOrFail(TenantryChange, { tenantId, version: 1 });
    await service.as({ tenantId }).patch(`/system/dept-api/${top}`, { leader: 'Li' });
    const second = await manager.findOneByOrFail(TenantryChange, { tenantId, version: 2 });
    const missing = await heard(
      () => manager.delete(TenantryChange, { tenantId, version: 2 }),
      () => manager.insert(TenantryChange, second),
    );
    expect(missing).toEqual([`journal entry ${tenantId} 3.0: does not follow the one before it`]);
    const early = await heard(
      () =>
        manager.insert(
          TenantryChange,
          Object.assign(first, { version: 9, prev: 3, resourceId: String(child) }),
        ),
      () => manager.delete(TenantryChange, { tenantId, version: 9 }),
    );
    expect(early).toContain(`journal entry ${tenantId} 9.0: has a version that its tenant has not reached`);
  });

  it('the doctor finds that nobody can administer the platform', async () => {
    for (const wrong of [{ status: '1' }, { roles: 'tenant_admin' }]) {
      const found = await heard(
        () => setAdmin(wrong),
        () => setAdmin({ status: '0', roles: 'superadmin' }),
      );
      expect(beside(found)).toEqual(['tenant 000000: has accounts, and no enabled superadmin among them']);
    }
  });
});
