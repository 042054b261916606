import { freeTenantCode } from './tenant-code';

describe('tenant codes', () => {
  it('have six digits', async () => {
    expect(await freeTenantCode(() => Promise.resolve([]))).toMatch(/^[1-9]\d{5}$/);
  });

  it('are never ones that were taken', async () => {
    const seen: string[] = [];
    const code = await freeTenantCode((codes) => {
      seen.push(...codes.slice(0, -1));
      return Promise.resolve(codes.slice(0, -1));
    });
    expect(seen).not.toContain(code);
  });

  it('get a seventh digit when six are used up', async () => {
    const code = await freeTenantCode((codes) => Promise.resolve(codes.filter(({ length }) => length === 6)));
    expect(code).toMatch(/^[1-9]\d{6}$/);
  });
});
