import { Module } from '@nestjs/common';
import type { Resource } from '../../resource/resource';
import { TenantServicesModule } from '../../tenant/tenant.module';
import { AccountEntity } from '../auth/account.entity';
import { AuthModule } from '../auth/auth.module';
import { UsernameKeys1763164800012 } from '../auth/migrations/1763164800012-username-keys';
import { AccountController } from './account.controller';
import { AccountRepository, JOURNALLED_ACCOUNT } from './account.repository';
import { AccountListService, AccountService } from './account.service';

/** Accounts of the service's own; a host with users of its own leaves this module out. */
@Module({
  imports: [TenantServicesModule, AuthModule],
  controllers: [AccountController],
  providers: [AccountService, AccountListService, AccountRepository],
  exports: [AccountService],
})
export class AccountModule {}

export const ACCOUNTS = {
  tag: { name: 'Accounts', description: "The accounts of the caller's tenant." },
  entities: [AccountEntity],
  migrations: [UsernameKeys1763164800012],
  services: AccountModule,
  routes: AccountModule,
  journal: JOURNALLED_ACCOUNT,
} satisfies Resource;
