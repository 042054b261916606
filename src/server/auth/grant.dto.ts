import { MOST_IN_LIST } from '../../tenancy/data-scope';
import type { Role } from '../../tenancy/roles';
import { RolesField } from '../../web/fields';
import { IdsField } from '../../web/id-fields';
import { Choice, Numbers, RoleList } from '../../web/view-fields';
import { DATA_SCOPES, type DataScopeName } from './grantee.entity';

/** What a client grants to an account or a key, beside the name of its data scope. */
export abstract class GrantDto {
  /** Not sent: `member`. @example ["member"] */
  @RolesField()
  roles?: Role[];
  /** Of a `dept_admin`, 1 to 50: it manages what is below these departments. @example [] */
  @IdsField(MOST_IN_LIST)
  managedDeptIds?: number[];
  /** Of a `custom` data scope, 1 to 50: these departments alone, not those below them. @example [] */
  @IdsField(MOST_IN_LIST)
  scopeDeptIds?: number[];
}

/** What is granted to an account or a key, as it is read. */
export abstract class GrantView {
  @RoleList()
  roles!: Role[];
  /** Of a `dept_admin`: it manages what is below these departments. @example [] */
  @Numbers()
  managedDeptIds!: number[];
  /** Which rows of a platform. @example all */
  @Choice(...DATA_SCOPES)
  dataScope!: DataScopeName;
  /** Of a `custom` data scope: these departments alone. @example [] */
  @Numbers()
  scopeDeptIds!: number[];
}
