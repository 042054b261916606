import type { DoctorRepository } from './doctor.repository';
import { examineTree, type TreeReport } from './examine-tree';
import type { RepairRepository } from './repair.repository';

/** What is wrong with a database, one line each; `repaired` was wrong and is right now. */
export interface Diagnosis {
  readonly findings: string[];
  readonly repaired: string[];
  /** Allowed, but worth knowing. */
  readonly notes: string[];
}

/**
 * Checks every invariant of both trees and of what refers to them: a few statements for all tenants together. A tree is
 * loaded only where one of them has found something. With a mender, what it can put right is put right.
 */
export async function examine(database: DoctorRepository, mender?: RepairRepository): Promise<Diagnosis> {
  const diagnosis: Diagnosis = { findings: [], repaired: [], notes: [] };
  const { findings, notes } = diagnosis;
  const mendable = mender ? diagnosis.repaired : findings;

  const roots = await database.findRoots();
  if (roots.join() !== '000000')
    findings.push(`the root of the tenants should be 000000, not ${roots.join()}`);
  if (await database.hasOddTenants()) {
    const report = examineTree(await database.findTenants());
    findings.push(...linesOf('tenant', report));
    mendable.push(...pathsOf('tenant', report));
    if (report.wrongPaths.length > 0) await mender?.repairTenants();
  }
  for (const code of await database.findTenantsOfOddDepts()) {
    const report = examineTree(await database.findDepts(code));
    findings.push(...linesOf('department', report));
    mendable.push(...pathsOf('department', report));
    if (report.wrongPaths.length > 0) await mender?.repairDepts(code);
  }

  findings.push(...(await database.findBroken()));
  for (const { tenantId, held } of await database.findOverLimit()) {
    if (held) notes.push(`tenant ${tenantId}: has more accounts than its limit allows now`);
    else findings.push(`tenant ${tenantId}: has more accounts than its limit allowed`);
  }
  return diagnosis;
}

function linesOf(kind: string, { orphans, cycles }: TreeReport): string[] {
  return [
    ...orphans.map((key) => `${kind} ${key}: an ancestor is deleted or missing`),
    ...cycles.map((key) => `${kind} ${key}: is its own ancestor`),
  ];
}

function pathsOf(kind: string, { wrongPaths }: TreeReport): string[] {
  return wrongPaths.map(({ key, ancestors }) => `${kind} ${key}: its path should be ${ancestors}`);
}
