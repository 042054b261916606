import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { AuthModule } from './auth/auth.module';
import { JwtAuthGuard } from './auth/jwt-auth.guard';
import { JwtPrincipalResolver } from '../tenancy/principal-resolver';
import { ENV, type Env } from './config/env';
import { RootController } from './docs/root.controller';
import { serviceResources } from './docs/service-resources';
import { HealthModule } from './health/health.controller';
import { EnvelopeExceptionFilter } from '../web/exception.filter';
import { RateLimitGuard } from './rate-limit/rate-limit.guard';
import { RateLimits } from './rate-limit/rate-limits';
import type { Meter } from '../database/meter';
import { BodyGuard, OverloadProtection } from './overload/overload-protection';
import { TenantryModule } from '../tenantry.module';
import { PermissionCatalogue } from '../tenancy/permissions';
import type { Clock } from '../time/clock';
import { AccountDirectory } from './account/account.directory';
import { AccountModule } from './account/account.module';
import { KeyModule } from './key/key.module';

export interface ServiceParts {
  readonly env: Env;
  /** Open, and migrated. */
  readonly dataSource: DataSource;
  readonly clock?: Clock;
  readonly meter?: Meter;
}

/** The standalone service: the smallest host of the library, and the only place with global providers. */
// Nest routes what a module imports here after what it is given below: departments, which are asked for most, come first.
@Module({ imports: [AuthModule, AccountModule, KeyModule, HealthModule] })
export class AppModule {
  static of({ env, dataSource, clock, meter }: ServiceParts): DynamicModule {
    return {
      module: AppModule,
      // Modules of the service get their settings from here.
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(dataSource),
        }),
        TenantryModule.forRoot({
          principalResolver: new JwtPrincipalResolver(),
          userDirectory: new AccountDirectory(),
          timeZone: env.TIME_ZONE,
          httpStatusMode: env.HTTP_STATUS_MODE,
          strictInput: env.STRICT_INPUT === 'on',
          journalKeepDays: env.JOURNAL_KEEP_DAYS,
          quotaKeepDays: env.QUOTA_KEEP_DAYS,
          ceilings: { packages: env.PACKAGE_CEILING === 'on', quotas: env.QUOTA_CEILING === 'on' },
          webhooks: {
            allowPrivateAddresses: env.WEBHOOK_ALLOW_PRIVATE === 'on',
            allowHttp: env.NODE_ENV !== 'production',
          },
          ...(clock && { clock }),
          ...(meter && { meter }),
          securitySchemes: ['password', 'bearer'],
        }),
      ],
      controllers: [RootController],
      exports: [ENV, PermissionCatalogue],
      providers: [
        { provide: ENV, useValue: env },
        { provide: PermissionCatalogue, useValue: new PermissionCatalogue(serviceResources) },
        { provide: RateLimits, useFactory: () => new RateLimits(env) },
        OverloadProtection,
        { provide: APP_GUARD, useClass: JwtAuthGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: BodyGuard },
        { provide: APP_FILTER, useClass: EnvelopeExceptionFilter },
      ],
    };
  }
}
