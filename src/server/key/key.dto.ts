import { MOST_IN_LIST } from '../../tenancy/data-scope';
import { ChoiceField, IfSent, required, RequiredTextField, TextField, TimeField } from '../../web/fields';
import { IdField, RequiredIdField } from '../../web/id-fields';
import { ReadOnlyFields } from '../../web/unknown-names';
import { Choice, described, Int64, TimeText } from '../../web/view-fields';
import { GrantDto, GrantView } from '../auth/grant.dto';
import type { DataScopeName } from '../auth/grantee.entity';

const NAME = '^[a-z]+:[a-z]+$';
const isName = new RegExp(NAME);
const NAME_LENGTH = 60;
/** A key belongs to no department. */
export const KEY_SCOPES: DataScopeName[] = ['all', 'own', 'custom'];

function PermissionsField(): PropertyDecorator {
  return required({
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: MOST_IN_LIST,
      items: { type: 'string', pattern: NAME, example: 'dept:read' },
    },
    read: (value) => (Array.isArray(value) ? [...new Set(value as unknown[])] : value),
    check: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= MOST_IN_LIST &&
      value.every((name) => typeof name === 'string' && isName.test(name)),
    zh: `必填，1 到 ${MOST_IN_LIST} 个权限名称`,
    en: `must be a list of 1 to ${MOST_IN_LIST} names of permissions`,
  });
}

const PermissionList = described({ type: 'array', items: { type: 'string' }, example: ['dept:read'] });

/** What a client may decide about a key, its name and permissions aside. */
@ReadOnlyFields([
  ...(['keyId', 'lastUsedTime'] satisfies (keyof KeyDto)[]),
  ...(['createBy', 'createTime', 'updateBy', 'updateTime'] satisfies (keyof KeyDto)[]),
])
class KeyDetailsDto extends GrantDto {
  /** Which rows of a platform: all of the tenant, its own, or those of `scopeDeptIds`. Not sent: `all`. @example all */
  @ChoiceField(...KEY_SCOPES)
  dataScope?: DataScopeName;
  /**
   * The last moment at which it is good, in the future: `YYYY-MM-DD HH:MM:SS` in the service's time zone, ISO 8601, or a day, which
   * is meant whole. Not sent: it has no end.
   * @example "2099-12-31 23:59:59"
   */
  @TimeField()
  endTime?: string;
  /** `0` normal, `1` disabled. @example "0" */
  @ChoiceField('0', '1')
  status?: string;
  /** The caller's own tenant. */
  @TextField(64)
  tenantId?: string;
}

/** A new key. */
export class CreateKeyDto extends KeyDetailsDto {
  /** Unique in the tenant. What the key does is done by `key:` and this. @example nightly-export */
  @RequiredTextField(NAME_LENGTH)
  name!: string;
  /** What it may do, of what its roles allow: names of permissions. */
  @PermissionsField()
  permissions!: string[];
}

/** A key as it shall be: fields not sent are reset; the secret stays. */
export class UpdateKeyDto extends CreateKeyDto {
  /** @example 1 */
  @RequiredIdField()
  keyId!: number;
}

/** What shall change of a key; null resets a field. The secret stays. */
export class PatchKeyDto extends KeyDetailsDto {
  /** @example nightly-export */
  @IfSent()
  @RequiredTextField(NAME_LENGTH)
  name?: string;
  /** What it may do, of what its roles allow: names of permissions. */
  @IfSent()
  @PermissionsField()
  permissions?: string[];
  /** As in the path, or not sent. */
  @IdField()
  keyId?: number;
}

/** A new key. The secret is shown only here, and not in the answer to a repeated request. */
export class CreatedKeyDto {
  /** @example 1 */
  @Int64()
  id!: number;
  /**
   * Send it as `Authorization: Bearer tnt_…`. Not in the answer to a repeated request.
   * @example tnt_...
   */
  secret?: string;
}

/** A key as it is read. */
export class KeyDto extends GrantView {
  /** @example 1 */
  @Int64()
  keyId!: number;
  /** @example nightly-export */
  name!: string;
  @PermissionList()
  permissions!: string[];
  /** The last moment at which it is good; null: it has no end. @example "2099-12-31 23:59:59" */
  @TimeText()
  endTime!: string | null;
  /** To the minute; null when it was never used. The `ETag` of the key does not change with it. */
  @TimeText()
  lastUsedTime!: string | null;
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
