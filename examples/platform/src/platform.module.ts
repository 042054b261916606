import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD, RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeptModule, TenantModule, TenantryModule } from 'tenantry';
import type { DataSource } from 'typeorm';
import { HomeController } from './home.controller.js';
import { OrdersModule } from './orders/orders.module.js';
import { StaffDirectory } from './staff/staff.directory.js';
import { StaffGuard } from './staff/staff.guard.js';
import { StaffModule } from './staff/staff.module.js';
import { StaffPrincipals } from './staff/staff.principals.js';

@Module({
  imports: [
    TenantryModule.forRootAsync({
      imports: [StaffModule],
      inject: [StaffPrincipals, StaffDirectory],
      useFactory: (principalResolver: StaffPrincipals, userDirectory: StaffDirectory) => ({
        principalResolver,
        userDirectory,
        timeZone: 'Europe/Berlin',
      }),
    }),
    RouterModule.register([{ path: 'org', children: [DeptModule, TenantModule] }]),
    StaffModule,
    OrdersModule,
  ],
  controllers: [HomeController],
  providers: [{ provide: APP_GUARD, useClass: StaffGuard }],
})
export class PlatformModule {
  /** The platform on a database that is already open. */
  static on(dataSource: DataSource): DynamicModule {
    const typeorm = TypeOrmModule.forRootAsync({
      useFactory: () => dataSource.options,
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    return { module: PlatformModule, imports: [typeorm] };
  }
}
