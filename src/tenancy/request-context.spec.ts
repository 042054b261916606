import { RequestContext } from './request-context';
import type { Role } from './roles';

describe('RequestContext', () => {
  it.each(['', '00000', 'abcdef', '000000 ', 100_000, { not: 'zz' }, ['000000'], null])(
    'a context refuses %j for a tenant',
    (tenantId) => {
      expect(() => RequestContext.system(tenantId as string)).toThrow('needs the code of a tenant');
    },
  );

  it.each([{ roles: 'tenant_admin' }, { username: '' }, { subject: undefined }, { tenantId: '1' }])(
    'a context refuses a principal with %j',
    (wrong) => {
      const principal = { subject: 's', tenantId: '000000', username: 'u', roles: ['member' as const] };
      expect(RequestContext.of(principal)).toMatchObject(principal);
      expect(() => RequestContext.of({ ...principal, ...wrong } as never)).toThrow('not a principal');
    },
  );

  it('a context refuses a principal whose lists a host has changed since it was right', () => {
    const roles: Role[] = ['tenant_admin'];
    const principal = Object.freeze({ subject: 's', tenantId: '000001', username: 'u', roles });
    expect(RequestContext.of(principal).tenantId).toBe('000001');
    roles.push('superadmin');
    expect(() => RequestContext.of(principal)).toThrow('not a principal');
  });

  it('a context cannot be changed once made', () => {
    const ctx = RequestContext.system('000000');
    expect(() => {
      (ctx as { tenantId: string }).tenantId = '000001';
    }).toThrow(TypeError);
  });

  it('a context cannot be made up', () => {
    const genuine = RequestContext.system('000000');
    expect(() => {
      RequestContext.require(genuine);
    }).not.toThrow();
    const borrowed: unknown = Object.create(RequestContext.prototype, { tenantId: { value: '000000' } });
    const copied = Object.assign({}, genuine);
    for (const made of [borrowed, copied, null, undefined, '000000', Object.create(genuine)]) {
      expect(() => {
        RequestContext.require(made);
      }).toThrow('needs a RequestContext');
    }
  });
});
