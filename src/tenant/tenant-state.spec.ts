import { tenantState, type TenantFacts } from './tenant-state';

const facts = (change: Partial<TenantFacts> = {}): TenantFacts => ({
  status: '0',
  delFlag: '0',
  startTime: null,
  endTime: null,
  ...change,
});

describe('the state of a tenant', () => {
  it.each<[Partial<TenantFacts>, string, string]>([
    [{}, '2026-05-01', 'ACTIVE'],
    [{ startTime: '2026-05-01', endTime: '2026-05-31' }, '2026-04-30', 'NOT_STARTED'],
    [{ startTime: '2026-05-01', endTime: '2026-05-31' }, '2026-05-01', 'ACTIVE'],
    [{ startTime: '2026-05-01', endTime: '2026-05-31' }, '2026-05-31', 'ACTIVE'],
    [{ startTime: '2026-05-01', endTime: '2026-05-31' }, '2026-06-01', 'EXPIRED'],
    [{ endTime: '2026-05-31' }, '2020-01-01', 'ACTIVE'],
    [{ startTime: '2026-05-01' }, '2030-01-01', 'ACTIVE'],
    [{ status: '1' }, '2026-05-01', 'DISABLED'],
    [{ status: '1', endTime: '2026-01-01' }, '2026-05-01', 'DISABLED'],
    [{ delFlag: '2', status: '1' }, '2026-05-01', 'DELETED'],
  ])('the tenant %p on %s is %s', (change, today, state) => {
    expect(tenantState(facts(change), today)).toBe(state);
  });
});
