import {
  ChoiceField,
  ChoiceParam,
  EmailField,
  IfSent,
  OpaqueField,
  PasswordField,
  RequiredTextField,
  TextField,
  SearchParam,
} from '../../web/fields';
import { IdField, RequiredIdField } from '../../web/id-fields';
import { PageQuery } from '../../web/page-query.dto';
import { GrantDto, GrantView } from '../auth/grant.dto';
import { DATA_SCOPES, type DataScopeName } from '../auth/grantee.entity';
import { ReadOnlyFields } from '../../web/unknown-names';
import { Choice, Int64, TimeText } from '../../web/view-fields';

/** The fields of an account that a client may send, its name aside. Not sent and null mean the same: the default. */
@ReadOnlyFields(['userId', 'createBy', 'createTime', 'updateBy', 'updateTime'] satisfies (keyof AccountDto)[])
class AccountDetailsDto extends GrantDto {
  /**
   * Which rows of a platform: all of the tenant, those of its own department, of that and all below it, its own, or those of
   * `scopeDeptIds`. Not sent: `all`.
   * @example all
   */
  @ChoiceField(...DATA_SCOPES)
  dataScope?: DataScopeName;
  /** @example 张三 */
  @TextField(64)
  nickname?: string;
  /** A department of the tenant, or none. */
  @IdField()
  deptId?: number;
  /** @example zhangsan@example.com */
  @EmailField(100)
  email?: string;
  /** @example "13800138000" */
  @TextField(32)
  phone?: string;
  /** `0` normal, `1` disabled. @example "0" */
  @ChoiceField('0', '1')
  status?: string;
  /** The caller's own tenant; on create also one below it, for its administrators. */
  @TextField(64)
  tenantId?: string;
}

/** The fields of an account that a client sends. */
export class AccountFieldsDto extends AccountDetailsDto {
  /** Compared after NFKC, so that no two look the same; invisible characters are refused. @example zhangsan */
  @RequiredTextField(64)
  username!: string;
}

export class CreateAccountDto extends AccountFieldsDto {
  /** @example a-long-password */
  @PasswordField()
  password!: string;
}

/** An account as it shall be: fields not sent are reset; the password stays. */
export class UpdateAccountDto extends AccountFieldsDto {
  /** @example 2 */
  @RequiredIdField()
  userId!: number;
}

/** What shall change of an account; null resets a field. The password stays. */
export class PatchAccountDto extends AccountDetailsDto {
  /** @example zhangsan */
  @IfSent()
  @RequiredTextField(64)
  username?: string;
  /** As in the path, or not sent. */
  @IdField()
  userId?: number;
}

/** A new password: one's own with the old one, or another account's by an administrator. */
export class ChangePasswordDto {
  /** Your own account when not sent. @example 2 */
  @IdField()
  userId?: number;
  /** Needed only to change your own password. */
  @OpaqueField(1024)
  oldPassword?: string;
  /** @example another-long-password */
  @PasswordField()
  newPassword!: string;
}

/** An account as it is read. */
export class AccountDto extends GrantView {
  /** @example 2 */
  @Int64()
  userId!: number;
  /** @example zhangsan */
  username!: string;
  /** @example 张三 */
  nickname!: string | null;
  /** Null: in no department. */
  @Int64()
  deptId!: number | null;
  email!: string | null;
  phone!: string | null;
  /** `0` normal, `1` disabled. */
  @Choice('0', '1')
  status!: string;
  /** @example "000000" */
  tenantId!: string;
  /** @example admin */
  createBy!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText()
  createTime!: string;
  /** Empty when it was never changed. */
  updateBy!: string;
  /** Null when it was never changed. */
  @TimeText()
  updateTime!: string | null;
}

/** Which accounts are listed. All filters given must match. */
export class AccountListQuery extends PageQuery {
  /** Accounts of this department. */
  @IdField()
  deptId?: number;
  /** A part of the user name, exactly as written. */
  @SearchParam(64)
  username?: string;
  /** `0` normal, `1` disabled. */
  @ChoiceParam('0', '1')
  status?: string;
}
