import fc, { type Arbitrary } from 'fast-check';
import type { DataSource } from 'typeorm';
import { serviceResources } from '../../../src/server/docs/service-resources';
import { aDept, type ApiClient, aUser, mintToken } from '../../../src/server/testing';
import { PermissionCatalogue } from '../../../src/tenancy/permissions';
import { aTenantWith } from '../seeds';

/** A client, and the ids that mean something to it. */
export class HostileCaller {
  constructor(
    readonly name: string,
    private readonly token: string | null,
    private readonly ids: {
      readonly depts: number[];
      readonly users: number[];
      readonly keys: number[];
      readonly tenants: string[];
    },
  ) {}

  get authorization(): string | null {
    return this.token === null ? null : `Bearer ${this.token}`;
  }

  /** Ids for a field or a parameter of this name, mostly those of rows that are there. Null when the field holds none. */
  idsFor(name: string): Arbitrary<string> | null {
    const list = this.#listFor(name);
    if (!list) return null;
    const unknown = { weight: 1, arbitrary: fc.nat(1000).map(String) };
    return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...list.map(String)) }, unknown);
  }

  #listFor(name: string): readonly (string | number)[] | null {
    if (/^(deptId|parentId|ancestorId|rootId|managedDeptId|scopeDeptId|dept-api)$/.test(name))
      return this.ids.depts;
    if (/^(userId|user-api)$/.test(name)) return this.ids.users;
    if (/^(keyId|key-api)$/.test(name)) return this.ids.keys;
    return /^(id|tenantParent|(tenant|quota|entitlement)-api)$/.test(name) ? this.ids.tenants : null;
  }
}

/** A key that may do all that an administrator may. */
async function aKey(api: ApiClient, name: string): Promise<{ readonly id: number; readonly secret: string }> {
  const permissions = new PermissionCatalogue(serviceResources).names;
  const answer = await api.post('/system/key-api', { name, roles: ['tenant_admin'], permissions });
  return answer.body.data as { id: number; secret: string };
}

/** Tenants with departments, accounts and keys, made in the same order each time, so that a request can be repeated alone. */
export async function hostileWorld(dataSource: DataSource, anonymous: ApiClient): Promise<HostileCaller[]> {
  const tenants: string[] = [];
  for (let left = 6; left > 0; left -= 1)
    tenants.push(await aTenantWith(dataSource, { riskReport: 1_000_000 }));
  const callers: HostileCaller[] = [];
  for (const tenantId of ['000000', ...tenants.slice(0, 3)]) {
    const token = mintToken({ tenantId, roles: tenantId === '000000' ? ['superadmin'] : ['tenant_admin'] });
    const api = anonymous.as(token);
    const depts: number[] = [];
    for (let left = 8; left > 0; left -= 1) {
      depts.push(await aDept(api, { parentId: depts.at(-2) ?? 0, deptName: `部门 ${left}` }));
    }
    const users = [await aUser(api, { username: 'first' })];
    // The platform's requests may well delete tenants: not those that others act in.
    const keys = [(await aKey(api, 'first')).id];
    const ids = { depts, users, keys, tenants: tenants.slice(3) };
    callers.push(new HostileCaller(tenantId, token, ids));
    if (tenantId === tenants[0]) {
      callers.push(new HostileCaller('member', mintToken({ tenantId, roles: ['member'] }), ids));
      const limited = mintToken({ tenantId, permissions: ['dept:read', 'quota:spend'] });
      callers.push(new HostileCaller('limited', limited, ids));
      callers.push(new HostileCaller('key', (await aKey(api, 'caller')).secret, ids));
      callers.push(new HostileCaller('nobody', null, ids));
    }
  }
  return callers;
}
