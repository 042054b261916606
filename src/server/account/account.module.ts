import { Module } from '@nestjs/common';
import type { Resource } from '../../resource/resource';
import { PART_MANAGERS, READERS } from '../../tenancy/roles';
import { TenantServicesModule } from '../../tenant/tenant.module';
import { ACCOUNT_TABLES } from '../auth/account.tables';
import { AuthModule } from '../auth/auth.module';
import { AccountController } from './account.controller';
import { AccountRepository, JOURNALLED_ACCOUNT } from './account.repository';
import { AccountListService, AccountService, AccountSessionService } from './account.service';

/** Accounts of the service's own; a host with users of its own leaves this module out. */
@Module({
  imports: [TenantServicesModule, AuthModule],
  controllers: [AccountController],
  providers: [AccountService, AccountListService, AccountSessionService, AccountRepository],
  exports: [AccountService],
})
export class AccountModule {}

export const ACCOUNTS = {
  ...ACCOUNT_TABLES,
  tag: { name: 'Accounts', description: "The accounts of the caller's tenant." },
  permissions: {
    'user:read': { roles: PART_MANAGERS, description: 'Read accounts and their history' },
    'user:write': {
      roles: READERS,
      description:
        'Create, change and delete accounts, end their sessions, and set passwords, your own included',
    },
    'signin:read': {
      roles: PART_MANAGERS,
      description: 'Read sign-ins and sessions, with the addresses of clients',
    },
  },
  services: AccountModule,
  routes: AccountModule,
  journal: JOURNALLED_ACCOUNT,
} satisfies Resource;
