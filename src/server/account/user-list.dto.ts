import { ChoiceField, SearchParam } from '../../web/fields';
import { IdField } from '../../web/id-fields';
import { PageQuery } from '../../web/page-query.dto';

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
