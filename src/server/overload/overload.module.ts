import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { OverloadLimits, OverloadProtection } from './overload-protection';

/** Keeps the standalone service from taking on more than it can carry; a host has its own server. */
@Module({})
export class OverloadModule {
  static with(limits: OverloadLimits): DynamicModule {
    return {
      module: OverloadModule,
      imports: [AuthModule],
      providers: [{ provide: OverloadLimits, useValue: limits }, OverloadProtection],
      exports: [OverloadProtection],
    };
  }
}
