import {
  ConfigurableModuleBuilder,
  Global,
  Inject,
  Module,
  type CanActivate,
  type DynamicModule,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import { DiscoveryModule, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { NobodyResolver, PrincipalResolver } from './tenancy/principal-resolver';
import { SettingRepository } from './database/setting.repository';
import { boundTo, TenantryDataSource } from './database/tenantry.data-source';
import { CommitLogCleaner } from './database/hourly-cleaner';
import { UnitOfWork } from './database/unit-of-work';
import { DeptModule, DeptServicesModule } from './dept/dept.module';
import { DomainEvents, EventSubscriber } from './database/domain-events';
import { Meter, SilentMeter } from './database/meter';
import { JournalModule, JournalServicesModule } from './journal/journal.module';
import { JournalKeeping } from './journal/journal-cleaner.repository';
import { ChangeCursors } from './web/change-cursor';
import { WebhookSettings, type WebhookOptions } from './journal/webhook-sender';
import { Cursors } from './web/page';
import { documentSecurity } from './web/organisation-controller';
import { StatusPolicy, type HttpStatusMode } from './web/envelope';
import { setDefaultLanguage, type Language } from './web/request';
import { HostGuards } from './web/roles.guard';
import { TenantBoundModule } from './tenancy/tenant-bound.repository';
import type { TenantOwned } from './tenancy/tenant-bound';
import { Ceilings, type CeilingOptions } from './tenant/ceilings';
import { QuotaKeeping } from './tenant/quota/quota-cleaner';
import { QuotaKinds, type QuotaKind } from './tenant/quota/quota-kinds';
import { TenantModule, TenantServicesModule } from './tenant/tenant.module';
import { Clock, SystemClock } from './time/clock';
import { ZonedTime } from './time/zoned-time';
import { ScopeCheck, StartChecks } from './start-checks';
import { Doctor } from './doctor/doctor';
import { TenantryTransaction } from './tenantry-transaction';
import { AccountDirectory } from './tenant/account.entity';
import { UserDirectory } from './tenancy/tenant-access';

/** What a host tells the library. */
export interface TenantryOptions {
  /** Identifies the caller. Without it an application with routes does not start. */
  readonly principalResolver: PrincipalResolver;
  /** Says which departments have users. Default: the accounts of this library. */
  readonly userDirectory?: UserDirectory;
  /** Zone of `createTime` and `updateTime`, and of the days of a service period. Default `Asia/Shanghai`. */
  readonly timeZone?: string;
  /**
   * Guards of yours that run before Tenantry's on its controllers, for platforms whose guards stand on each controller:
   * classes or instances. Default: none.
   */
  readonly guards?: readonly (CanActivate | Type<CanActivate>)[];
  /** Of messages, where the caller's `Accept-Language` prefers neither. Default `zh`. */
  readonly language?: Language;
  /** Default `match-code`. */
  readonly httpStatusMode?: HttpStatusMode;
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

/** `default` is what TypeORM's module calls a DataSource without a name. */
const DEFAULTS: TenantryExtras = { controllers: true, dataSource: 'default', securitySchemes: ['bearer'] };

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<TenantryOptions>()
  .setClassMethodName('forRoot')
  .setExtras(DEFAULTS, (definition, { controllers, dataSource, securitySchemes = [] }) => {
    documentSecurity(securitySchemes);
    return {
      ...definition,
      imports: [
        ...(definition.imports ?? []),
        ...(controllers === false ? [] : [DeptModule, TenantModule, JournalModule]),
      ],
      providers: [...(definition.providers ?? []), boundTo(dataSource)],
    };
  })
  .build();

type Token<T> = Type<T> | (abstract new (...args: never[]) => T);

/** Partial: a host in JavaScript may leave out what it must not. */
function fromOptions<T>(
  provide: Token<T>,
  useFactory: (options: Partial<TenantryOptions>) => T,
): Provider<T> {
  return { provide, useFactory, inject: [MODULE_OPTIONS_TOKEN] };
}

/**
 * Departments and tenants for a Nest platform: on the host's own DataSource, with nothing registered globally
 * but the providers that its feature modules share.
 */
@Global()
@Module({
  imports: [DiscoveryModule, TenantServicesModule, DeptServicesModule, JournalServicesModule],
  providers: [
    DomainEvents,
    EventSubscriber,
    UnitOfWork,
    StartChecks,
    ScopeCheck,
    CommitLogCleaner,
    TenantryTransaction,
    Doctor,
    SettingRepository,
    Cursors,
    ChangeCursors,
    fromOptions(PrincipalResolver, ({ principalResolver }) => principalResolver ?? new NobodyResolver()),
    fromOptions(UserDirectory, ({ userDirectory }) => userDirectory ?? new AccountDirectory()),
    fromOptions(Meter, ({ meter }) => meter ?? new SilentMeter()),
    fromOptions(Clock, ({ clock }) => clock ?? new SystemClock()),
    fromOptions(JournalKeeping, ({ journalKeepDays }) => ({ days: journalKeepDays ?? 400 })),
    fromOptions(QuotaKeeping, ({ quotaKeepDays }) => ({ days: quotaKeepDays ?? 400 })),
    fromOptions(Ceilings, ({ ceilings }) => new Ceilings(ceilings)),
    fromOptions(QuotaKinds, ({ quotaKinds }) => new QuotaKinds(quotaKinds)),
    fromOptions(WebhookSettings, ({ webhooks }) => new WebhookSettings(webhooks ?? {})),
    fromOptions(ZonedTime, ({ timeZone }) => new ZonedTime(timeZone ?? 'Asia/Shanghai')),
    {
      provide: HostGuards,
      useFactory: ({ guards = [] }: Partial<TenantryOptions>, moduleRef: ModuleRef) =>
        new HostGuards(guards, moduleRef),
      inject: [MODULE_OPTIONS_TOKEN, ModuleRef],
    },
    fromOptions(StatusPolicy, ({ httpStatusMode }) => new StatusPolicy(httpStatusMode ?? 'match-code')),
  ],
  exports: [
    TenantryDataSource,
    DomainEvents,
    UnitOfWork,
    TenantryTransaction,
    Doctor,
    Meter,
    Cursors,
    ChangeCursors,
    PrincipalResolver,
    HostGuards,
    UserDirectory,
    Clock,
    JournalKeeping,
    QuotaKeeping,
    QuotaKinds,
    Ceilings,
    ZonedTime,
    WebhookSettings,
    StatusPolicy,
    TenantServicesModule,
    DeptServicesModule,
    JournalServicesModule,
  ],
})
export class TenantryModule extends ConfigurableModuleClass implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly host: HttpAdapterHost,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: Partial<TenantryOptions>,
  ) {
    super();
  }

  /** Two of them would share what is global, and one would work on the other's database. */
  onModuleInit(): void {
    const roots = [...this.modules.values()].filter(({ metatype }) => metatype === TenantryModule);
    if (roots.length > 1) throw new Error('TenantryModule.forRoot stands twice in this application.');
    setDefaultLanguage(this.host, this.options.language ?? 'zh');
  }

  /**
   * A `TenantBoundRepository` for each of the host's own entities, injected with `@InjectTenantBound(OrderEntity)`. Each
   * must have a column `tenantId`, and be among the entities of the DataSource that Tenantry works on.
   */
  static forFeature(entities: readonly Type<TenantOwned>[]): DynamicModule {
    return TenantBoundModule.of(entities);
  }
}
