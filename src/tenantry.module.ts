import {
  ConfigurableModuleBuilder,
  Global,
  Inject,
  Module,
  type DynamicModule,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import { DiscoveryModule, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { NobodyResolver, PrincipalResolver } from './tenancy/principal-resolver';
import { boundTo, TenantryDataSource } from './database/tenantry.data-source';
import { Cleanup } from './database/cleanup';
import { keepTimesInUtc } from './database/mysql/host-time-zone';
import { UnitOfWork } from './database/unit-of-work';
import { DomainEvents, EventSubscriber } from './database/domain-events';
import { Meter, SilentMeter } from './database/meter';
import { entities, routeModules, serviceModules } from './resources';
import { JournalKeeping } from './journal/journal-cleaner.repository';
import { ChangeCursors } from './journal/change-cursor';
import { ChangeReader } from './journal/change-reader.repository';
import { WebhookSettings } from './changes/webhook/webhook-sender';
import { documentSecurity } from './web/organisation-controller';
import { setEnvelope, StatusPolicy } from './web/envelope';
import { setDefaultLanguage } from './web/request';
import { HostRefusals } from './web/refusal-responses';
import { HostGuards } from './web/roles.guard';
import { setStrictInput } from './web/unknown-names';
import { TenantBoundModule } from './resource/tenant-bound.repository';
import type { TenantOwned } from './tenancy/tenant-bound';
import { Ceilings } from './tenant/ceilings';
import { QuotaKeeping } from './tenant/quota/quota-cleaner';
import { QuotaKinds } from './tenant/quota/quota-kinds';
import { Clock, SystemClock } from './time/clock';
import { ZonedTime } from './time/zoned-time';
import { CacheCheck, ScopeCheck, StartChecks } from './start-checks';
import { Doctor } from './doctor/doctor';
import { optionsProblem, type TenantryExtras, type TenantryOptions } from './tenantry-options';
import { TenantryTransaction } from './tenantry-transaction';
import { NoUsers, UserDirectory } from './tenancy/tenant-access';

/** `default` is what TypeORM's module calls a DataSource without a name. */
const DEFAULTS: TenantryExtras = { controllers: true, dataSource: 'default', securitySchemes: ['bearer'] };

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<TenantryOptions>()
  .setClassMethodName('forRoot')
  .setExtras(DEFAULTS, (definition, { controllers, dataSource, securitySchemes = [] }) => {
    documentSecurity(securitySchemes);
    return {
      ...definition,
      imports: [...(definition.imports ?? []), ...(controllers === false ? [] : routeModules)],
      providers: [
        ...(definition.providers ?? []),
        boundTo(dataSource, (found) => keepTimesInUtc(found, entities)),
      ],
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
  imports: [DiscoveryModule, ...serviceModules],
  providers: [
    DomainEvents,
    EventSubscriber,
    UnitOfWork,
    StartChecks,
    ScopeCheck,
    CacheCheck,
    Cleanup,
    TenantryTransaction,
    Doctor,
    HostRefusals,
    ChangeCursors,
    ChangeReader,
    fromOptions(PrincipalResolver, ({ principalResolver }) => principalResolver ?? new NobodyResolver()),
    fromOptions(UserDirectory, ({ userDirectory }) =>
      userDirectory === 'none' ? new NoUsers() : userDirectory,
    ),
    fromOptions(Meter, ({ meter }) => meter ?? new SilentMeter()),
    fromOptions(Clock, ({ clock }) => clock ?? new SystemClock()),
    fromOptions(JournalKeeping, ({ journalKeepDays }) => ({ days: journalKeepDays ?? 400 })),
    fromOptions(QuotaKeeping, ({ quotaKeepDays }) => ({ days: quotaKeepDays ?? 400 })),
    fromOptions(Ceilings, ({ ceilings }) => new Ceilings(ceilings)),
    fromOptions(QuotaKinds, ({ quotaKinds }) => new QuotaKinds(quotaKinds)),
    fromOptions(WebhookSettings, ({ webhooks }) => ({
      ...{ allowPrivateAddresses: false, allowHttp: false },
      ...webhooks,
    })),
    fromOptions(ZonedTime, ({ timeZone }) => new ZonedTime(timeZone ?? 'Asia/Shanghai')),
    {
      provide: HostGuards,
      useFactory: ({ guards = [], authorize }: Partial<TenantryOptions>, moduleRef: ModuleRef) =>
        new HostGuards(guards, authorize, moduleRef),
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
    ChangeCursors,
    ChangeReader,
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
    ...serviceModules,
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
    if (roots.length > 1) throw new Error('TenantryModule.forRoot is imported twice in this application.');
    const problem = optionsProblem(this.options);
    if (problem !== null) throw new Error(`Tenantry cannot start: ${problem}`);
    setDefaultLanguage(this.host, this.options.language ?? 'zh');
    setStrictInput(this.host, this.options.strictInput ?? false);
    setEnvelope(this.host, this.options.envelope);
  }

  /**
   * A `TenantBoundRepository` for each of the host's own entities, injected with `@InjectTenantBound(OrderEntity)`. Each
   * must have a column `tenantId`, and be among the entities of the DataSource that Tenantry works on. One with
   * `autoLoadEntities` gets them by this; `dataSource` is its name, if it has one.
   */
  static forFeature(entities: readonly Type<TenantOwned>[], dataSource?: string): DynamicModule {
    return TenantBoundModule.of(entities, dataSource);
  }
}
