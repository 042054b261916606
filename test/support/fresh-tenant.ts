import type { ApiClient, Caller } from '../../src/server/testing';
import { aTenantWith } from './seeds';
import type { ServiceUnderTest } from './service-under-test';

/** A tenant of its own for a test, with so much of each kind of quota, and a client of its administrator. */
export async function freshTenant(
  service: Pick<ServiceUnderTest, 'as' | 'dataSource'>,
  caller: Omit<Caller, 'tenantId'> = {},
  totals: Parameters<typeof aTenantWith>[1] = {},
): Promise<{ readonly tenantId: string; readonly api: ApiClient }> {
  const tenantId = await aTenantWith(service.dataSource, totals);
  return { tenantId, api: service.as({ tenantId, ...caller }) };
}
