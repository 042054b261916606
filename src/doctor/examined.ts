import type { Audited } from '../database/audited';
import type { ChangeKind, JournalFields } from '../journal/change-log';
import { DeptEntity } from '../dept/dept.entity';
import { toDeptJournal } from '../dept/dept.mapper';
import { TenantEntity } from '../tenant/tenant.entity';
import { toTenantJournal } from '../tenant/tenant.mapper';
import { INVARIANTS, type Invariant } from './invariants';

/** A kind of resource whose rows must be as their last entries in the journal say. */
export interface ExaminedResource<E extends Audited = Audited> {
  readonly kind: ChangeKind;
  /** What findings call it. */
  readonly noun: string;
  readonly entity: new () => E;
  /** The property that the journal has as the resource's id. */
  readonly id: string;
  readonly idType: NumberConstructor | StringConstructor;
  toJournal(row: E): JournalFields;
}

/** What a doctor examines beside the trees and the quotas. */
export interface Examined {
  readonly resources: readonly ExaminedResource[];
  readonly invariants: readonly Invariant[];
}

const DEPT: ExaminedResource<DeptEntity> = {
  kind: 'dept',
  noun: 'department',
  entity: DeptEntity,
  id: 'deptId',
  idType: Number,
  toJournal: toDeptJournal,
};

const TENANT: ExaminedResource<TenantEntity> = {
  kind: 'tenant',
  noun: 'tenant',
  entity: TenantEntity,
  id: 'id',
  idType: String,
  toJournal: toTenantJournal,
};

/** Of every database, a host's too. */
export const LIBRARY: Examined = { resources: [DEPT, TENANT], invariants: INVARIANTS };
