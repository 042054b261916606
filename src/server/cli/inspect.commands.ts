import { Doctor } from '../../doctor/doctor';
import { Ceilings } from '../../tenant/ceilings';
import { tenantState } from '../../tenant/tenant-state';
import { TenantryTenant } from '../../tenant/tenant.entity';
import { ZonedTime } from '../../time/zoned-time';
import { ServiceDoctor } from '../account/service-doctor';
import { loadDatabaseSettings } from '../config/environment';
import { print } from './values';
import { isOfService, withDatabase } from './with-database';

/** Exit code 0: sound (or repaired); 1: something is wrong. */
export async function doctorCommand({ repair }: { readonly repair: boolean }): Promise<number> {
  const { location, ceilings } = loadDatabaseSettings();
  const { findings, repaired, notes } = await withDatabase(location, async (dataSource) => {
    const OwnDoctor = (await isOfService(dataSource)) ? ServiceDoctor : Doctor;
    return new OwnDoctor(dataSource, new Ceilings(ceilings)).examine({ repair });
  });
  for (const each of repaired) print(`repaired  ${each}`);
  for (const each of notes) print(`note      ${each}`);
  for (const each of findings) print(`wrong     ${each}`);
  print(findings.length === 0 ? 'The database is sound.' : `${findings.length} problems found.`);
  return findings.length === 0 ? 0 : 1;
}

/** Prints every live tenant after its parent: code, id, state, and the name indented by depth. */
export function tenantListCommand(): Promise<number> {
  const { location, timeZone } = loadDatabaseSettings();
  return withDatabase(location, async ({ manager }) => {
    const today = new ZonedTime(timeZone).day(new Date());
    const path = ({ ancestors, tenantId }: TenantryTenant) => `${ancestors},${tenantId}`;
    const tenants = await manager.find(TenantryTenant, { where: { delFlag: '0' } });
    for (const tenant of tenants.toSorted((a, b) => (path(a) < path(b) ? -1 : 1))) {
      const { tenantId, id, tenantName, depth } = tenant;
      const name = '  '.repeat(depth - 1) + tenantName;
      print([tenantId, id.padEnd(19), tenantState(tenant, today).padEnd(11), name].join('  '));
    }
    return 0;
  });
}
