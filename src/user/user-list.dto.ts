import { ChoiceField } from '../http/fields';
import { IdField } from '../http/id-fields';
import { SearchParam } from '../http/query-fields';
import { PageQuery } from '../paging/page-query.dto';

/** Which accounts are listed. All filters given must match. */
export class UserListQuery extends PageQuery {
  /** Accounts of this department. */
  @IdField()
  deptId?: number;

  /** A part of the user name, exactly as written. */
  @SearchParam(64)
  username?: string;

  /** `0` normal, `1` disabled. */
  @ChoiceField('0', '1')
  status?: string;
}
