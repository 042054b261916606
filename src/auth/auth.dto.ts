import { OpaqueField, RequiredOpaqueField, RequiredTextField, TextField } from '../http/fields';

const PASSWORD_BYTES = 1024;

export class LoginDto {
  /**
   * Code of the tenant; not sent: the platform's.
   * @example "000000"
   */
  @TextField(64)
  tenantId?: string;

  /** @example admin */
  @RequiredTextField(256)
  username!: string;

  @RequiredOpaqueField(PASSWORD_BYTES)
  password!: string;
}

export class RefreshDto {
  @RequiredOpaqueField(256)
  refreshToken!: string;
}

/** The OAuth2 password and refresh grants, in the names of RFC 6749. */
export class TokenRequestDto {
  @OpaqueField(64)
  grant_type?: string;

  /** The user name, or `tenantCode/username`. */
  @TextField(256)
  username?: string;

  @OpaqueField(PASSWORD_BYTES)
  password?: string;

  @OpaqueField(256)
  refresh_token?: string;
}

export class TokensDto {
  accessToken!: string;
  tokenType!: 'Bearer';
  /** Seconds. */
  expiresIn!: number;
  refreshToken!: string;
}

/** Who is calling. */
export class MeDto {
  /** The account's id; null for a caller who is no account here. */
  userId!: number | null;
  username!: string;
  nickname!: string | null;
  roles!: string[];
  tenantId!: string;
  tenantName!: string;
  /** `ACTIVE`, because others are refused before. */
  tenantState!: string;
  /** Ids of the menus that the tenant's package authorises. */
  menuIds!: string[];
}
