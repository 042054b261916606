import { HttpErrors } from '../../errors/http.errors';
import { toRoles } from '../../tenancy/roles';
import type { Grantee } from './grantee.entity';

export type Grant = Pick<Grantee, 'roles' | 'managedDeptIds' | 'dataScope' | 'scopeDeptIds'>;

const MANAGED = {
  zh: '角色 dept_admin 必须管理 1 到 50 个部门，其他角色不能有',
  en: 'the role dept_admin has 1 to 50 departments that it manages, and no other role has any',
};
const CUSTOM = {
  zh: 'dataScope 为 custom 时必须有 1 到 50 个部门，其他情况不能有',
  en: 'a custom dataScope has 1 to 50 departments, and no other has any',
};

/** Lists of departments stand where the role or the data scope takes them, and nowhere else. */
export function refuseOddGrant({ roles, managedDeptIds, dataScope, scopeDeptIds }: Grant): void {
  const isAdministrator = toRoles(roles).includes('dept_admin');
  const fields = [
    ...(isAdministrator === managedDeptIds.length > 0 ? [] : [{ field: 'managedDeptIds', message: MANAGED }]),
    ...((dataScope === 'custom') === scopeDeptIds.length > 0
      ? []
      : [{ field: 'scopeDeptIds', message: CUSTOM }]),
  ];
  if (fields.length > 0) throw HttpErrors.INVALID({ fields });
}
