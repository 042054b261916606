import { RequestContext } from './request-context';

describe('RequestContext', () => {
  it('refuses an empty tenant', () => {
    expect(() => RequestContext.system('')).toThrow('needs a tenant');
  });

  it('cannot be changed once made', () => {
    const ctx = RequestContext.system('000000');
    expect(() => {
      (ctx as { tenantId: string }).tenantId = '000001';
    }).toThrow(TypeError);
  });
});
