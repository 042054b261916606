import { Injectable, Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { HourlyCleaner } from '../../database/hourly-cleaner';
import { Meter } from '../../database/meter';
import { TenantServicesModule } from '../../tenant/tenant.module';
import { SessionController, SignInController } from './auth.controller';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { JwtStrategy } from './jwt-auth.guard';
import { OAuthController } from './oauth.controller';
import { PasswordHasher, Passwords } from './password-hasher';
import { SessionRepository } from './session.repository';
import { MeService, SignInService } from './sign-in.service';
import { TokenIssuer } from './token-issuer';
import { AccountStateCache, VerifiedTokens } from './verified-tokens';

/** Removes the sessions whose refresh tokens have expired, and wrong passwords that count no more. */
@Injectable()
export class SessionCleaner extends HourlyCleaner {
  constructor(meter: Meter, sessions: SessionRepository, failures: FailedSignInRepository) {
    super(meter, { sessions, 'failed sign-ins': failures });
  }
}

/** Tokens and sign-in of the service's own; a host with its own sign-in leaves this module out. */
@Module({
  imports: [PassportModule, TenantServicesModule],
  controllers: [SignInController, SessionController, OAuthController],
  providers: [
    JwtStrategy,
    SignInService,
    TokenIssuer,
    MeService,
    SessionRepository,
    FailedSignInRepository,
    SessionCleaner,
    AccountStateCache,
    VerifiedTokens,
    PasswordHasher,
    Passwords,
  ],
  exports: [AccountStateCache, VerifiedTokens, Passwords],
})
export class AuthModule {}
