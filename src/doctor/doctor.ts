import type { DoctorRepository } from './doctor.repository';
import { examineTree, type TreeReport } from './examine-tree';

/** What is wrong with a database, one line each; `repaired` were wrong paths that are right now. */
export interface Diagnosis {
  readonly findings: string[];
  readonly repaired: string[];
  /** Allowed, but worth knowing. */
  readonly notes: string[];
}

/** Checks every invariant of both trees and of what refers to them. */
export async function examine(database: DoctorRepository, repair: boolean): Promise<Diagnosis> {
  const findings: string[] = [];
  const repaired: string[] = [];
  const notes: string[] = [];
  const judge = async (name: string, report: TreeReport, mend: () => Promise<void>): Promise<void> => {
    findings.push(...report.orphans.map((key) => `${name} ${key}: an ancestor is deleted or missing`));
    findings.push(...report.cycles.map((key) => `${name} ${key}: is its own ancestor`));
    const wrong = report.wrongPaths.map(
      ({ key, ancestors }) => `${name} ${key}: its path should be ${ancestors}`,
    );
    if (repair && wrong.length > 0) await mend();
    (repair ? repaired : findings).push(...wrong);
  };

  const tenants = await database.findTenants();
  const roots = tenants.filter(({ parent }) => parent === null).map(({ key }) => key);
  if (roots.join() !== '000000')
    findings.push(`the root of the tenants should be 000000, not ${roots.join()}`);
  const ofTenants = examineTree(tenants);
  await judge('tenant', ofTenants, () => database.repairTenants());

  for (const code of await database.findCodes()) {
    const ofDepts = examineTree(await database.findDepts(code));
    await judge('department', ofDepts, () => database.repairDepts(code));
    const misnamed = await database.findMisnamed(code);
    if (repair && misnamed.length > 0) await database.repairNames(code, misnamed);
    (repair ? repaired : findings).push(
      ...misnamed.map((id) => `department ${id}: a search does not find it by its name`),
    );
    for (const id of await database.findStrays(code))
      findings.push(`account ${id}: its department is deleted or missing`);
    if (await database.isOverLimit(code))
      notes.push(`tenant ${code}: has more accounts than it may have now`);
  }
  return { findings, repaired, notes };
}
