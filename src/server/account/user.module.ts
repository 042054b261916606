import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { TenantServicesModule } from '../../tenant/tenant.module';
import { UserController } from './user.controller';
import { UserRepository } from './user.repository';
import { UserListService, UserService } from './user.service';

/** Accounts of the service's own; a host with users of its own leaves this module out. */
@Module({
  imports: [TenantServicesModule, AuthModule],
  controllers: [UserController],
  providers: [UserService, UserListService, UserRepository],
  exports: [UserService],
})
export class UserModule {}
