import { TenantListRepository } from './tenant-list.repository';
import { SystemClock } from '../../time/clock';
import { ZonedTime } from '../../time/zoned-time';
import { tenantState } from '../../tenant/tenant-state';
import { print } from './print';
import { withDatabase } from './with-database';

/** Prints every live tenant: code, id, state, and the name indented by depth. */
export async function tenantListCommand(): Promise<number> {
  await withDatabase(async (dataSource, env) => {
    const today = new ZonedTime(env.TIME_ZONE).day(new SystemClock().now());
    for (const tenant of await new TenantListRepository(dataSource).findAllLive()) {
      const { tenantId, id, tenantName, depth } = tenant;
      print(
        [
          tenantId,
          id.padEnd(19),
          tenantState(tenant, today).padEnd(11),
          '  '.repeat(depth - 1) + tenantName,
        ].join('  '),
      );
    }
  });
  return 0;
}
