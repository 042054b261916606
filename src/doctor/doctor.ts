import { Injectable } from '@nestjs/common';
import { TenantryDataSource } from '../database/tenantry.data-source';
import { Ceilings } from '../tenant/ceilings';
import { DoctorRepository } from './doctor.repository';
import { LIBRARY, type Examined } from './invariants';
import { examineJournal } from './examine-journal';
import { examineTree } from '../database/examine-tree';

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
    const { findings, repaired, notes } = diagnosis;
    const roots = await database.findRoots();
    if (roots.join() !== '000000')
      findings.push(`the root of the tenants should be 000000, not ${roots.join()}`);
    for (const tree of await database.findOddTrees()) {
      const { orphans, cycles, wrongPaths } = await examineTree(await database.findNodes(tree));
      findings.push(
        ...orphans.map((key) => `${tree.noun} ${key}: an ancestor is deleted or missing`),
        ...cycles.map((key) => `${tree.noun} ${key}: is its own ancestor`),
      );
      for (const { key, ancestors } of wrongPaths)
        (repair ? repaired : findings).push(`${tree.noun} ${key}: its path should be ${ancestors}`);
      if (repair && wrongPaths.length > 0) await database.repairPaths(tree);
    }
    for (const quota of await database.findWrongQuotas()) {
      (repair ? repaired : findings).push(`quota ${quota.tenantId} ${quota.kind}: ${quota.wrong}`);
      if (repair) await database.repairQuota(quota);
    }
    if (this.ceilings.packages) findings.push(...(await database.findMenusBeyondParent()));
    if (this.ceilings.quotas) findings.push(...(await database.findQuotasBeyondParent()));
    for (const { text, isNote } of await database.findBroken()) (isNote ? notes : findings).push(text);
    findings.push(...(await examineJournal(database)));
    return diagnosis;
  }
}
