import { fromRoles, mayHandle, toRoles } from './roles';

describe('roles', () => {
  it('roles are handled by who has at least them', () => {
    expect(mayHandle(['superadmin'], ['superadmin'])).toBe(true);
    expect(mayHandle(['tenant_admin'], ['tenant_admin', 'member'])).toBe(true);
    expect(mayHandle(['tenant_admin'], ['superadmin'])).toBe(false);
    expect(mayHandle(['member'], ['tenant_admin'])).toBe(false);
    expect(mayHandle([], ['member'])).toBe(false);
  });

  it('roles are stored in one order', () => {
    expect(fromRoles(['member', 'tenant_admin'])).toBe('tenant_admin,member');
    expect(toRoles('tenant_admin,member')).toEqual(['tenant_admin', 'member']);
    expect(toRoles('')).toEqual([]);
  });
});
