import {
  ChoiceParam,
  OpaqueField,
  RequiredOpaqueField,
  RequiredTextField,
  TextField,
  TimeField,
} from '../../web/fields';
import { IdField } from '../../web/id-fields';
import { PageQuery } from '../../web/page-query.dto';
import { Choice, Int32, Int64, Numbers, RoleList, TimeText } from '../../web/view-fields';
import { TENANT_STATES } from '../../tenant/tenant-state';

const PASSWORD_BYTES = 1024;
const SCOPE_LENGTH = 1000;
const OAUTH_ERRORS = [
  'invalid_request',
  'invalid_grant',
  'invalid_scope',
  'unsupported_grant_type',
  'temporarily_unavailable',
  'server_error',
];

export class LoginDto {
  /** Code of the tenant; not sent: the platform's. */
  @TextField(64)
  tenantId?: string;
  /** @example zhangsan */
  @RequiredTextField(256)
  username!: string;
  /** @example a-long-password */
  @RequiredOpaqueField(PASSWORD_BYTES)
  password!: string;
  /** The permissions that the tokens are to be limited to, with spaces between them; not sent or empty: nothing limits them. @example dept:read change:read */
  @TextField(SCOPE_LENGTH)
  scope?: string;
}

export class RefreshDto {
  @RequiredOpaqueField(256)
  refreshToken!: string;
  /** Fewer permissions than before, with spaces between them; not sent or empty: as before. @example dept:read */
  @TextField(SCOPE_LENGTH)
  scope?: string;
}

/** The OAuth2 password and refresh grants, in the names of RFC 6749. */
export class TokenRequestDto {
  @Choice('password', 'refresh_token')
  @OpaqueField(64)
  grant_type!: string;
  /** The user name, or `tenantCode/username`. @example zhangsan */
  @TextField(256)
  username?: string;
  /** @example a-long-password */
  @OpaqueField(PASSWORD_BYTES)
  password?: string;
  @OpaqueField(256)
  refresh_token?: string;
  /** The permissions that the tokens are to be limited to, with spaces between them. @example dept:read change:read */
  @TextField(SCOPE_LENGTH)
  scope?: string;
}

/** A token answer in the words of RFC 6749. */
export class OAuthTokensDto {
  access_token!: string;
  /** @example Bearer */
  token_type!: string;
  /** Seconds. @example 1800 */
  @Int32()
  expires_in!: number;
  refresh_token!: string;
  /** The permissions that were granted. @example dept:read change:read */
  scope!: string;
}

/** A refusal in the words of RFC 6749. */
export class OAuthProblemDto {
  @Choice(...OAUTH_ERRORS)
  error!: string;
  error_description!: string;
}

export class TokensDto {
  accessToken!: string;
  /** @example Bearer */
  tokenType!: string;
  /** Seconds. @example 1800 */
  @Int32()
  expiresIn!: number;
  refreshToken!: string;
  /** The permissions that were granted, with spaces between them. @example dept:read change:read */
  scope!: string;
}

/** One part of a data scope. */
export class DataScopePartDto {
  /** All rows, rows of departments, or the caller's own rows. @example depts */
  @Choice('all', 'depts', 'own')
  kind!: string;
  /** Only of `depts`. @example [1] */
  @Numbers()
  deptIds?: readonly number[];
  /** Only of `depts`: whether rows of all departments below these are in it, too. */
  below?: boolean;
}

/** Who is calling. */
export class MeDto {
  /** The id of the account; null for a caller without an account here. */
  @Int64()
  userId!: number | null;
  username!: string;
  nickname!: string | null;
  @RoleList()
  roles!: string[];
  /** What the caller may do: what its roles allow, and its token or key is not limited from. @example ["dept:read", "change:read"] */
  permissions!: string[];
  /** Of a `dept_admin`: it manages what is below these departments. @example [] */
  @Numbers()
  managedDeptIds!: number[];
  /** Which rows of a platform the caller may touch: those in any of these parts. Nothing limits a caller with `all`; with no part there are none. @example [{ "kind": "all" }] */
  dataScope!: DataScopePartDto[];
  tenantId!: string;
  tenantName!: string;
  /** Always `ACTIVE`: callers of other tenants are refused. */
  @Choice(...TENANT_STATES)
  tenantState!: string;
  /** Ids of the menus that the tenant's package authorises, each once. @example [1, 100, 101] */
  @Numbers()
  menuIds!: number[];
  /** The time zone of all times of this service. @example Asia/Shanghai */
  timeZone!: string;
  /** The version of this service. @example 0.4.0 */
  version!: string;
}

const OUTCOMES = ['signed_in', 'refused'];

/** Which sign-ins are listed. All filters given must match. */
export class SignInListQuery extends PageQuery {
  /** Sign-ins of this account. */
  @IdField()
  userId?: number;
  /** Only those that succeeded, or only those that were refused. */
  @ChoiceParam(...OUTCOMES)
  outcome?: string;
  /** Not before this time: `YYYY-MM-DD HH:MM:SS` in the service's time zone, ISO 8601, or a day, which begins at midnight. */
  @TimeField()
  from?: string;
  /** Not after this time; a day is meant whole. */
  @TimeField()
  until?: string;
}

/** One sign-in of an account. */
export class SignInDto {
  /** @example "2026-01-01 09:00:00" */
  @TimeText()
  time!: string;
  /** @example 2 */
  @Int64()
  userId!: number;
  /** The name that the account has now. @example zhangsan */
  username!: string;
  @Choice(...OUTCOMES)
  outcome!: string;
  /** Why it was refused: `wrong_password`, or `disabled` when the account is. Null when it was not. @example null */
  reason!: string | null;
  /** Where it came from: an IPv4 address or an IPv6 network. Null where addresses are not kept. @example 203.0.113.7 */
  address!: string | null;
  /** The session that it began; null when it was refused. */
  sessionId!: string | null;
  /** When the session was ended: by signing out, by an administrator, or because an old refresh token was used again. Null: not so far. */
  @TimeText()
  endTime!: string | null;
}

/** A session of an account that can be refreshed. */
export class SessionDto {
  /** @example 0b9f6c1e-8d3a-4a53-9d0e-2f1f5f1c7a10 */
  sessionId!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText()
  beginTime!: string;
  /** Where it began: an IPv4 address or an IPv6 network. Null where addresses are not kept. @example 203.0.113.7 */
  address!: string | null;
  /** Null when it was never refreshed. */
  @TimeText()
  refreshTime!: string | null;
  /** Where it was last refreshed. */
  refreshAddress!: string | null;
  /** When it ends unless it is refreshed before. @example "2026-01-08 09:00:00" */
  @TimeText()
  expireTime!: string;
  /** Whether it is the session of this request. */
  isCurrent!: boolean;
}
