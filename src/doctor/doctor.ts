import { Injectable } from '@nestjs/common';
import { TenantryDataSource } from '../database/tenantry.data-source';
import { Ceilings } from '../tenant/ceilings';
import { DoctorRepository } from './doctor.repository';
import { LIBRARY, type Examined } from './examined';
import { examineJournal } from './examine-journal';
import { examineTree, type StoredNode } from './examine-tree';

/** What is wrong with a database, one line each; `repaired` was wrong and is right now. */
export interface Diagnosis {
  readonly findings: string[];
  readonly repaired: string[];
  /** Allowed, but worth knowing. */
  readonly notes: string[];
}

/** The checks of the command `doctor`, for jobs and health pages of a host. */
@Injectable()
export class Doctor {
  protected readonly examined: Examined = LIBRARY;

  readonly #dataSource: TenantryDataSource;

  constructor(
    dataSource: TenantryDataSource,
    private readonly ceilings: Ceilings = new Ceilings(),
  ) {
    this.#dataSource = dataSource;
  }

  /**
   * Checks every invariant of both trees and of what refers to them, across tenants: a few statements for all tenants
   * together. A tree is loaded only where one of them has found something. With `repair`, wrong paths and counters are put right.
   */
  async examine({ repair = false } = {}): Promise<Diagnosis> {
    const database = new DoctorRepository(this.#dataSource, this.examined);
    const diagnosis: Diagnosis = { findings: [], repaired: [], notes: [] };
    const { findings, notes } = diagnosis;
    const roots = await database.findRoots();
    if (roots.join() !== '000000')
      findings.push(`the root of the tenants should be 000000, not ${roots.join()}`);
    if (await database.hasOddTenants()) {
      const isWrong = addTreeFindings(diagnosis, 'tenant', await database.findTenants(), repair);
      if (isWrong && repair) await database.repairTenants();
    }
    for (const code of await database.findTenantsOfOddDepts()) {
      const isWrong = addTreeFindings(diagnosis, 'department', await database.findDepts(code), repair);
      if (isWrong && repair) await database.repairDepts(code);
    }
    for (const quota of await database.findWrongQuotas()) {
      (repair ? diagnosis.repaired : findings).push(`quota ${quota.tenantId} ${quota.kind}: ${quota.wrong}`);
      if (repair) await database.repairQuota(quota);
    }
    if (this.ceilings.packages) findings.push(...(await database.findMenusBeyondParent()));
    if (this.ceilings.quotas) findings.push(...(await database.findQuotasBeyondParent()));
    for (const { text, isNote } of await database.findBroken()) (isNote ? notes : findings).push(text);
    findings.push(...(await examineJournal(database)));
    return diagnosis;
  }
}

function addTreeFindings(
  { findings, repaired }: Diagnosis,
  kind: string,
  nodes: readonly StoredNode[],
  isRepaired: boolean,
): boolean {
  const { orphans, cycles, wrongPaths } = examineTree(nodes);
  findings.push(
    ...orphans.map((key) => `${kind} ${key}: an ancestor is deleted or missing`),
    ...cycles.map((key) => `${kind} ${key}: is its own ancestor`),
  );
  const lines = wrongPaths.map(({ key, ancestors }) => `${kind} ${key}: its path should be ${ancestors}`);
  (isRepaired ? repaired : findings).push(...lines);
  return wrongPaths.length > 0;
}
