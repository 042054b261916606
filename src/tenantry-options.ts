import type { CanActivate, Type } from '@nestjs/common';
import type { Meter } from './database/meter';
import type { WebhookOptions } from './changes/webhook/webhook-sender';
import type { PrincipalResolver } from './tenancy/principal-resolver';
import type { UserDirectory } from './tenancy/tenant-access';
import type { CeilingOptions } from './tenant/ceilings';
import type { QuotaKind } from './tenant/quota/quota-kinds';
import type { Clock } from './time/clock';
import { HTTP_STATUS_MODES, type AnswerForm, type HttpStatusMode } from './web/envelope';
import { LANGUAGES, type Language } from './web/request';
import type { Authorize } from './web/roles.guard';

/** What a host tells the library. */
export interface TenantryOptions {
  /** Identifies the caller. Without it an application with routes does not start. */
  readonly principalResolver: PrincipalResolver;
  /** Says which departments have users, which are not deleted; `none` where they never have any. Without it the application does not start. */
  readonly userDirectory: UserDirectory | 'none';
  /** Zone of `createTime` and `updateTime`, and of the days of a service period. Default `Asia/Shanghai`. */
  readonly timeZone?: string;
  /**
   * Guards of yours that run before Tenantry's on its controllers, for platforms whose guards stand on each controller:
   * classes or instances. Default: none.
   */
  readonly guards?: readonly (CanActivate | Type<CanActivate>)[];
  /**
   * Whether a caller whose role allows an operation may do it: asked for every operation, by its id in the OpenAPI document. False is
   * a 403; an exception is answered as those of guards. Default: the role is enough.
   */
  readonly authorize?: Authorize;
  /** Of messages, where the caller's `Accept-Language` prefers neither. Default `zh`. */
  readonly language?: Language;
  /** Default `match-code`. */
  readonly httpStatusMode?: HttpStatusMode;
  /** The form of answers, successes and refusals, for clients that know another than `{ code, msg, data }`. Default: as it is. */
  readonly envelope?: AnswerForm;
  /**
   * Whether fields and parameters that an operation does not know are refused, where the caller's `Prefer` says nothing. Default
   * `false`: they are ignored, and the header `X-Ignored-Fields` names them.
   */
  readonly strictInput?: boolean;
  /** How many days the journal keeps its entries; 0 keeps all of them. Default 400. */
  readonly journalKeepDays?: number;
  /** How many days the ledger of quotas keeps single entries; 0 keeps all of them. Default 400. */
  readonly quotaKeepDays?: number;
  /** Kinds of quotas beside the six of a tenant. Default: none. */
  readonly quotaKinds?: readonly QuotaKind[];
  /** Whether what a parent has limits what its children may have. Default: it does not. */
  readonly ceilings?: CeilingOptions;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Is told of waits, repeats and failures of writes. Default: none. */
  readonly meter?: Meter;
  /** Where webhooks may lead. Default: to public addresses by `https`. */
  readonly webhooks?: WebhookOptions;
}

/** What decides the structure, before any provider exists: it stands beside `useFactory`, not in what that gives. */
export interface TenantryExtras {
  /** `false` mounts no routes; the services are there all the same. Default `true`. */
  readonly controllers?: boolean;
  /** Names of the security schemes in the host's OpenAPI document; each is enough. Default `bearer`, as of `addBearerAuth()`. */
  readonly securitySchemes?: readonly string[];
  /** Name of the host's TypeORM DataSource. Default: the one without a name. */
  readonly dataSource?: string;
}

const MOST_DAYS = 36_500;

/** What of the options does not go: they may come from the environment, or from JavaScript. */
export function optionsProblem(options: Partial<TenantryOptions>): string | null {
  const { guards = [], language, httpStatusMode, strictInput, userDirectory } = options;
  if (userDirectory !== 'none' && typeof userDirectory?.findOccupied !== 'function')
    return "give TenantryModule a userDirectory, which says which departments have users, or 'none' if they never have any.";
  for (const name of ['journalKeepDays', 'quotaKeepDays'] as const) {
    const days = options[name];
    if (days !== undefined && !(Number.isInteger(days) && days >= 0 && days <= MOST_DAYS))
      return `${name} must be a whole number of days from 0 (all are kept) to ${MOST_DAYS}, not ${String(days)}.`;
  }
  if (language !== undefined && !LANGUAGES.includes(language))
    return `language must be one of ${LANGUAGES.join(', ')}, not ${language as string}.`;
  if (httpStatusMode !== undefined && !HTTP_STATUS_MODES.includes(httpStatusMode))
    return `httpStatusMode must be one of ${HTTP_STATUS_MODES.join(', ')}, not ${httpStatusMode as string}.`;
  if (strictInput !== undefined && typeof strictInput !== 'boolean')
    return `strictInput must be true or false, not ${String(strictInput)}.`;
  for (const name of ['authorize', 'envelope'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'function')
      return `${name} must be a function.`;
  const other = guards.findIndex((guard) => !isGuard(guard));
  return other === -1 ? null : `guards[${other}] is not a guard.`;
}

function isGuard(guard: unknown): boolean {
  return typeof guard === 'function' || typeof (guard as CanActivate | null)?.canActivate === 'function';
}
