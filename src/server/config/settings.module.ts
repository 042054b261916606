import { Global, Module, type DynamicModule } from '@nestjs/common';
import { JwtSettings } from '../auth/jwt-settings';

/** What the standalone service's modules are told at the start. */
@Global()
@Module({})
export class SettingsModule {
  static with(jwt: JwtSettings): DynamicModule {
    return {
      module: SettingsModule,
      providers: [{ provide: JwtSettings, useValue: jwt }],
      exports: [JwtSettings],
    };
  }
}
