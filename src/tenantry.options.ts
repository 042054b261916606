import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { PrincipalResolver } from './tenancy/principal-resolver';
import { boundTo } from './database/tenantry.data-source';
import { DeptModule } from './dept/dept.module';
import type { HttpStatusMode } from './web/envelope';
import type { Meter } from './database/meter';
import { TenantModule } from './tenant/tenant.module';
import type { Clock } from './time/clock';
import type { UserDirectory } from './tenancy/user-directory';

/** What a host tells the library. */
export interface TenantryOptions {
  /** Says who is calling. Without it nobody is let in. */
  readonly principalResolver: PrincipalResolver;
  /** Says which departments have users. Default: the accounts of this library. */
  readonly userDirectory?: UserDirectory;
  /** Zone of `createTime` and `updateTime`, and of the days of a service period. Default `Asia/Shanghai`. */
  readonly timeZone?: string;
  /** Default `match-code`. */
  readonly httpStatusMode?: HttpStatusMode;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Hears of waits, repeats and failures of writes. Default: nobody does. */
  readonly meter?: Meter;
}

/** What decides the structure, before any provider exists: it stands beside `useFactory`, not in what that gives. */
export interface TenantryExtras {
  /** `false` mounts no routes; the services are there all the same. Default `true`. */
  readonly controllers?: boolean;
  /** Name of the host's TypeORM DataSource. Default: the one without a name. */
  readonly dataSource?: string;
}

/** `default` is what TypeORM's module calls a DataSource without a name. */
const DEFAULTS: TenantryExtras = { controllers: true, dataSource: 'default' };

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<TenantryOptions>()
    .setClassMethodName('forRoot')
    .setExtras(DEFAULTS, (definition, { controllers, dataSource }) => ({
      ...definition,
      imports: [...(definition.imports ?? []), ...(controllers === false ? [] : [DeptModule, TenantModule])],
      providers: [...(definition.providers ?? []), boundTo(dataSource)],
    }))
    .build();
