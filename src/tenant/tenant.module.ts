import { Module } from '@nestjs/common';
import { TenantServicesModule } from './tenant-services.module';
import { TenantController } from './tenant.controller';

/** Tenants with their routes: importing it mounts them. A host moves them with Nest's `RouterModule`. */
@Module({
  imports: [TenantServicesModule],
  controllers: [TenantController],
  exports: [TenantServicesModule],
})
export class TenantModule {}
