import { Column, Entity, Generated, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Audited, STAMPS } from '../database/audited';
import { BY_MIGRATIONS, ascii, id, text, toTenant } from '../database/columns';
import type { TenantOwned } from '../tenancy/tenant-bound';
import type { TreeRow } from '../database/tree-table';
import { namesOf, type ClientFields } from '../resource/fields';
import type { CreateDeptDto, DeptDto } from './dept.dto';

/** Parent id of a top-level department. */
export const ROOT_ID = 0;

@Entity('tenantry_dept', BY_MIGRATIONS)
@Index('ix_dept_subtree', ['tenantId', 'delFlag', 'ancestors', 'orderNum', 'deptId'])
@Index('ix_dept_children', ['tenantId', 'delFlag', 'parentId', 'orderNum', 'deptId'])
@Index('ix_dept_sibling', ['tenantId', 'delFlag', 'parentId', 'deptName', 'deptId'])
@Index('ix_dept_order', ['tenantId', 'delFlag', 'orderNum', 'deptId'])
@Index('ix_dept_leader', ['tenantId', 'delFlag', 'leader', 'orderNum', 'deptId'])
@Index('ix_dept_status', ['tenantId', 'delFlag', 'status', 'orderNum', 'deptId'])
export class TenantryDept extends Audited implements TenantOwned, TreeRow {
  @PrimaryColumn({ name: 'dept_id', type: 'bigint', transformer: id })
  @Generated('increment')
  deptId!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20, ...ascii })
  tenantId!: string;

  // By name, because resources do not import each other.
  @ManyToOne('TenantryTenant')
  @JoinColumn(toTenant('fk_dept_tenant'))
  tenant?: object;

  @Column({ name: 'parent_id', type: 'bigint', transformer: id })
  parentId!: number;

  /** Path from the root `0` down to the parent. 64 levels of 16-digit ids fit. */
  @Column({ type: 'varchar', length: 1100, ...ascii })
  ancestors!: string;

  /** 1 at top level; the number of ids in `ancestors`. */
  @Column({ type: 'integer' })
  depth!: number;

  @Column({ name: 'dept_name', type: 'varchar', length: 64, ...text })
  deptName!: string;

  @Column({ name: 'order_num', type: 'integer' })
  orderNum!: number;

  @Column({ type: 'varchar', length: 64, nullable: true, ...text })
  leader!: string | null;

  @Column({ type: 'varchar', length: 32, nullable: true, ...text })
  phone!: string | null;

  @Column({ type: 'varchar', length: 100, nullable: true, ...text })
  email!: string | null;

  /** Of one that was deleted with a whole subtree: the department at the top of it. Null of others. */
  @Column({ name: 'deleted_with', type: 'bigint', nullable: true, transformer: id })
  deletedWith!: number | null;

  get key(): number {
    return this.deptId;
  }
}

/** The ids above a department, from the top down. */
export function ancestorIds({ ancestors }: Pick<TenantryDept, 'ancestors'>): number[] {
  return ancestors.split(',').slice(1).map(Number);
}

/** What a client decides about a department, besides its place: every field that it may send. */
export type DeptFields = ClientFields<
  TenantryDept,
  DeptDto,
  Exclude<keyof CreateDeptDto, 'parentId' | 'tenantId'>
>;

/** The fields with the contract's defaults. All that is read, written, listed, noted, imported or exported follows from it. */
export const DEPT_DEFAULTS: DeptFields = {
  deptName: '',
  orderNum: 0,
  leader: null,
  phone: null,
  email: null,
  status: '0',
};

export const DEPT_FIELDS = namesOf(DEPT_DEFAULTS);

export type DeptDetail = Exclude<keyof DeptFields, 'deptName'>;
export const DEPT_DETAILS = DEPT_FIELDS.filter((field): field is DeptDetail => field !== 'deptName');

/** What a department shows, in this order. */
export const DEPT_VIEW = [
  'deptId',
  'parentId',
  'ancestors',
  ...DEPT_FIELDS,
  'delFlag',
  'tenantId',
  ...STAMPS,
] as const;

/** What lists and trees read of a department: all but the revision, which only a change needs. */
export const DEPT_SHOWN = [...DEPT_VIEW, 'depth'] as const;

/** What the journal records of a department. Its path is not among it: it follows from the parents. */
export const DEPT_JOURNALLED = ['parentId', ...DEPT_FIELDS, ...STAMPS] as const;

export type DeptRow = Pick<TenantryDept, (typeof DEPT_SHOWN)[number]>;
