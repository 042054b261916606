import { Doctor } from '../../doctor/doctor';
import { tenantState } from '../../tenant/tenant-state';
import { TenantEntity } from '../../tenant/tenant.entity';
import { ZonedTime } from '../../time/zoned-time';
import { loadEnv } from '../config/env';
import { print } from './values';
import { withDatabase } from './with-database';

/** Exit code 0: sound (or repaired); 1: something is wrong. */
export async function doctorCommand({ repair }: { readonly repair: boolean }): Promise<number> {
  const { findings, repaired, notes } = await withDatabase(
    (dataSource) => new Doctor(dataSource).examine({ repair }),
    loadEnv({ needsSecret: false }),
  );
  for (const each of repaired) print(`repaired  ${each}`);
  for (const each of notes) print(`note      ${each}`);
  for (const each of findings) print(`wrong     ${each}`);
  print(findings.length === 0 ? 'The database is sound.' : `${findings.length} problems found.`);
  return findings.length === 0 ? 0 : 1;
}

/** Prints every live tenant after its parent: code, id, state, and the name indented by depth. */
export function tenantListCommand(): Promise<number> {
  return withDatabase(
    async ({ manager }, env) => {
      const today = new ZonedTime(env.TIME_ZONE).day(new Date());
      const path = ({ ancestors, tenantId }: TenantEntity) => `${ancestors},${tenantId}`;
      const tenants = await manager.find(TenantEntity, { where: { delFlag: '0' } });
      for (const tenant of tenants.toSorted((a, b) => (path(a) < path(b) ? -1 : 1))) {
        const { tenantId, id, tenantName, depth } = tenant;
        const name = '  '.repeat(depth - 1) + tenantName;
        print([tenantId, id.padEnd(19), tenantState(tenant, today).padEnd(11), name].join('  '));
      }
      return 0;
    },
    loadEnv({ needsSecret: false }),
  );
}
