import { Module, type DynamicModule } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { JwtSettings, JwtStrategy } from './jwt.strategy';

/** Tokens of the service's own; a host with its own sign-in leaves this module out. */
@Module({})
export class AuthModule {
  static with(settings: JwtSettings): DynamicModule {
    return {
      module: AuthModule,
      imports: [PassportModule],
      providers: [JwtStrategy, { provide: JwtSettings, useValue: settings }],
    };
  }
}
