import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from './auth.module';
import type * as RelayFile from './revocation-relay';

/** What is revoked on one replica of the standalone service is refused by the others at once, if they share a Redis. */
@Module({})
export class RevocationModule {
  static with(redisUrl: string | undefined): DynamicModule {
    if (redisUrl === undefined) return { module: RevocationModule };
    // Loads the client of Redis only for who has one.
    const { RevocationRelay, REVOCATION_REDIS } = require('./revocation-relay') as typeof RelayFile;
    return {
      module: RevocationModule,
      imports: [AuthModule],
      providers: [{ provide: REVOCATION_REDIS, useValue: redisUrl }, RevocationRelay],
    };
  }
}
