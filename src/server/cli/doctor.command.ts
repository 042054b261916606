import { examine } from '../../doctor/doctor';
import { DoctorRepository } from '../../doctor/doctor.repository';
import { RepairRepository } from '../../doctor/repair.repository';
import { print } from './print';
import { withDatabase } from './with-database';

/** Exit code 0: sound (or repaired); 1: something is wrong. */
export async function doctorCommand({ repair }: { readonly repair: boolean }): Promise<number> {
  const { findings, repaired, notes } = await withDatabase((dataSource) =>
    examine(new DoctorRepository(dataSource), repair ? new RepairRepository(dataSource) : undefined),
  );
  for (const each of repaired) print(`repaired  ${each}`);
  for (const each of notes) print(`note      ${each}`);
  for (const each of findings) print(`wrong     ${each}`);
  print(findings.length === 0 ? 'The database is sound.' : `${findings.length} problems found.`);
  return findings.length === 0 ? 0 : 1;
}
