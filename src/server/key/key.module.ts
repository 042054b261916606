import { Module } from '@nestjs/common';
import type { Resource } from '../../resource/resource';
import { MANAGERS } from '../../tenancy/roles';
import { KEY_TABLES } from '../auth/account.tables';
import { AuthModule } from '../auth/auth.module';
import { KeyController } from './key.controller';
import { JOURNALLED_KEY, KeyRepository } from './key.repository';
import { KeyListService, KeyService } from './key.service';

/** Keys of the service's own; a host with a sign-in of its own leaves this module out. */
@Module({
  imports: [AuthModule],
  controllers: [KeyController],
  providers: [KeyService, KeyListService, KeyRepository],
  exports: [KeyService, KeyListService],
})
export class KeyModule {}

export const KEYS = {
  ...KEY_TABLES,
  tag: {
    name: 'Keys',
    description: "Keys for programs of the caller's tenant, which go where a token goes.",
  },
  permissions: {
    'key:write': { roles: MANAGERS, description: 'Read, create, change and delete keys' },
  },
  services: KeyModule,
  routes: KeyModule,
  journal: JOURNALLED_KEY,
} satisfies Resource;
