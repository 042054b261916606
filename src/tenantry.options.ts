import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { PrincipalResolver } from './auth/principal-resolver';
import type { HttpStatusMode } from './http/status-policy';
import type { Clock } from './time/clock';
import type { UserDirectory } from './user/user-directory';

/** What a host tells the library. */
export interface TenantryOptions {
  /** Says who is calling. */
  readonly principalResolver: PrincipalResolver;
  /** Says which departments have users. Default: the accounts of this library. */
  readonly userDirectory?: UserDirectory;
  /** Zone of `createTime` and `updateTime`, and of the days of a service period. Default `Asia/Shanghai`. */
  readonly timeZone?: string;
  /** Default `match-code`. */
  readonly httpStatusMode?: HttpStatusMode;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<TenantryOptions>().setClassMethodName('forRoot').build();
