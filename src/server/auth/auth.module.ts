import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { TenantServicesModule } from '../../tenant/tenant.module';
import { SessionController, SignInController } from './auth.controller';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { JwtStrategy } from './jwt.strategy';
import { MeService } from './me.service';
import { OAuthController } from './oauth.controller';
import { PasswordHasher } from './password-hasher';
import { Passwords } from './passwords';
import { SessionCleaner } from './session-cleaner';
import { SessionRepository } from './session.repository';
import { SignInService } from './sign-in.service';
import { AccountStateCache } from './account-state-cache';
import { TokenIssuer } from './token-issuer';
import { VerifiedTokens } from './verified-tokens';

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
