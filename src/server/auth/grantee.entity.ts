import { Column, type ValueTransformer } from 'typeorm';
import { Audited } from '../../database/audited';
import { ascii } from '../../database/columns';
import type { DataScope } from '../../tenancy/data-scope';
import { deepFreeze, type Principal } from '../../tenancy/principal';
import { toRoles } from '../../tenancy/roles';

/** Which rows of hosts: all, those of its own department, of that and all below it, its own, or those of listed departments. */
export const DATA_SCOPES = ['all', 'dept', 'deptAndBelow', 'own', 'custom'] as const;
export type DataScopeName = (typeof DATA_SCOPES)[number];

/** Ids with commas between them; null for none. */
const idList: ValueTransformer = {
  to: (ids: unknown) => (Array.isArray(ids) ? ids.join(',') || null : ids),
  from: (stored: string | null) => stored?.split(',').map(Number) ?? [],
};

/** Who has roles and a part of a tenant: an account or a key. */
export abstract class Grantee extends Audited {
  /** Comma-separated role names. */
  @Column({ type: 'varchar', length: 255, ...ascii }) roles!: string;
  /** Of a `dept_admin`: it manages what is below these departments. */
  @Column({
    name: 'managed_dept_ids',
    type: 'varchar',
    length: 900,
    nullable: true,
    transformer: idList,
    ...ascii,
  })
  managedDeptIds!: number[];
  @Column({ name: 'data_scope', type: 'varchar', length: 16, default: 'all', ...ascii })
  dataScope!: DataScopeName;
  /** The departments of a `custom` data scope: these alone, not those below them. */
  @Column({
    name: 'scope_dept_ids',
    type: 'varchar',
    length: 900,
    nullable: true,
    transformer: idList,
    ...ascii,
  })
  scopeDeptIds!: number[];
}

type Granted = Pick<Grantee, 'roles' | 'managedDeptIds' | 'dataScope' | 'scopeDeptIds'>;

/** What is granted, as a principal has it. `deptId` is the grantee's own department, if it has one. */
export function grantedTo(
  { roles, managedDeptIds, dataScope, scopeDeptIds }: Granted,
  deptId: number | null,
): Pick<Principal, 'roles' | 'managedDeptIds' | 'dataScope'> {
  const own = deptId === null ? [] : [deptId];
  const scopes: Readonly<Record<DataScopeName, DataScope>> = {
    all: [{ kind: 'all' }],
    dept: [{ kind: 'depts', deptIds: own, below: false }],
    deptAndBelow: [{ kind: 'depts', deptIds: own, below: true }],
    own: [{ kind: 'own' }],
    custom: [{ kind: 'depts', deptIds: scopeDeptIds, below: false }],
  };
  return deepFreeze({ roles: toRoles(roles), managedDeptIds, dataScope: scopes[dataScope] });
}
